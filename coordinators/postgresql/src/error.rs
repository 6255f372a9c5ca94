#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Severity {
    Warning,
    Notice,
    Error,
    Fatal,
}

impl Severity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Severity::Warning => "WARNING",
            Severity::Notice => "NOTICE",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SqlError {
    pub(crate) severity: Severity,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// Position of the error in characters of the query, counted from 1.
    pub(crate) position: Option<usize>,
    pub(crate) about: Option<Box<About>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct About {
    pub(crate) table: Option<String>,
    pub(crate) column: Option<String>,
    pub(crate) constraint: Option<String>,
}

pub(crate) type Outcome<T> = Result<T, SqlError>;

impl SqlError {
    pub(crate) fn of(
        severity: Severity,
        code: &'static str,
        message: impl Into<String>,
    ) -> SqlError {
        SqlError {
            severity,
            code,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            about: None,
        }
    }

    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError::of(Severity::Error, code, message)
    }

    pub(crate) fn fatal(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError::of(Severity::Fatal, code, message)
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> SqlError {
        SqlError::new("0A000", format!("{} is not supported by this server", what.into()))
    }

    pub(crate) fn too_deep() -> SqlError {
        let hint = "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), \
                    after ensuring the platform's stack depth limit is adequate.";
        SqlError::new("54001", "stack depth limit exceeded").hint(hint)
    }

    pub(crate) fn at(mut self, position: usize) -> SqlError {
        self.position = Some(position);
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> SqlError {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> SqlError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn about(mut self, about: About) -> SqlError {
        self.about = Some(Box::new(about));
        self
    }
}
