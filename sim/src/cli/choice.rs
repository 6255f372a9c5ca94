use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use strum::{EnumMessage, VariantArray};

pub(crate) fn choice<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + FromStr<Err = strum::ParseError> + Copy + Send + Sync,
    &'static str: From<T>,
{
    PossibleValuesParser::new(choices::<T>()).try_map(|name| name.parse::<T>())
}

pub(crate) fn choices<T>() -> Vec<PossibleValue>
where
    T: VariantArray + EnumMessage + Copy,
    &'static str: From<T>,
{
    let value = |one: &T| {
        let about = one.get_documentation().unwrap_or_default();
        PossibleValue::new(<&'static str>::from(*one)).help(about.trim_end_matches('.'))
    };
    T::VARIANTS.iter().map(value).collect()
}
