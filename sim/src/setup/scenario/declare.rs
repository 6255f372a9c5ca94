//! A macro that generates a scenario's types: flat in files, and grouped in memory.

use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} '{value}': expected {expected}")]
pub struct InvalidScenario {
    pub(crate) key: String,
    value: String,
    expected: String,
}

impl InvalidScenario {
    pub(super) fn new(field: &str, value: &impl Serialize, expected: impl Into<String>) -> Self {
        let value = as_text(&serde_json::to_value(value).unwrap_or_default());
        InvalidScenario { key: field.replace('_', "-"), value, expected: expected.into() }
    }
}

pub(super) fn as_text(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A key is `name: Type = value`, optionally followed by `, |value| condition => "valid values"`.
macro_rules! scenario {
    (
        $(#[doc = $about:expr])*
        $(
            keys { $(
                $(#[doc = $doc:expr])*
                $(#[serde($($serde:tt)*)])?
                $key:ident: $type:ty = $value:expr $(, $is:expr => $expected:literal)?;
            )* }
            $(
                $(#[doc = $group_about:expr])*
                group $group:ident: $Group:ident { $(
                    $(#[doc = $inner_doc:expr])*
                    $(#[serde($($inner_serde:tt)*)])?
                    $inner:ident: $inner_type:ty = $inner_value:expr
                        $(, $inner_is:expr => $inner_expected:literal)?;
                )* }
            )*
        )*
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "Flat", into = "Flat")]
        pub struct Scenario { $(
            $($(#[doc = $doc])* pub $key: $type,)*
            $($(#[doc = $group_about])* pub $group: $Group,)*
        )* }

        $($(
            $(#[doc = $group_about])*
            #[derive(Clone, PartialEq, Eq, Debug)]
            pub struct $Group { $($(#[doc = $inner_doc])* pub $inner: $inner_type,)* }

            impl Default for $Group {
                fn default() -> $Group {
                    $Group { $($inner: $inner_value,)* }
                }
            }
        )*)*

        impl Default for Scenario {
            fn default() -> Scenario {
                Scenario { $($($key: $value,)* $($group: $Group::default(),)*)* }
            }
        }

        $(#[doc = $about])*
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case", rename = "Scenario")]
        struct Flat { $(
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? $key: $type,)*
            $($($(#[doc = $inner_doc])* $(#[serde($($inner_serde)*)])? $inner: $inner_type,)*)*
        )* }

        impl Default for Flat {
            fn default() -> Flat {
                Scenario::default().into()
            }
        }

        impl From<Flat> for Scenario {
            fn from(flat: Flat) -> Scenario {
                Scenario { $(
                    $($key: flat.$key,)*
                    $($group: $Group { $($inner: flat.$inner,)* },)*
                )* }
            }
        }

        impl From<Scenario> for Flat {
            fn from(scenario: Scenario) -> Flat {
                Flat { $(
                    $($key: scenario.$key,)*
                    $($($inner: scenario.$group.$inner,)*)*
                )* }
            }
        }

        impl Scenario {
            /// Returns the values that the key allows, if it does not allow all values of its type.
            pub(crate) fn valid_values(key: &str) -> Option<&'static str> {
                let limited: &[(&str, &'static str)] = &[
                    $(
                        $($((stringify!($key), $expected),)?)*
                        $($($((stringify!($inner), $inner_expected),)?)*)*
                    )*
                ];
                let name = key.replace('-', "_");
                limited.iter().find(|(limited, _)| *limited == name).map(|(_, valid)| *valid)
            }

            pub(super) fn validate_values(&self) -> Result<(), InvalidScenario> {
                $(
                    $($({
                        let is_valid: fn(&$type) -> bool = $is;
                        if !is_valid(&self.$key) {
                            let (key, value) = (stringify!($key), &self.$key);
                            return Err(InvalidScenario::new(key, value, $expected));
                        }
                    })?)*
                    $($($({
                        let is_valid: fn(&$inner_type) -> bool = $inner_is;
                        if !is_valid(&self.$group.$inner) {
                            let (key, value) = (stringify!($inner), &self.$group.$inner);
                            return Err(InvalidScenario::new(key, value, $inner_expected));
                        }
                    })?)*)*
                )*
                Ok(())
            }
        }
    };
}

pub(super) use scenario;
