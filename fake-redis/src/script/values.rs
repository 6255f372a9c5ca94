use luna_core::runtime::Value;

pub(super) fn as_number(value: Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(number),
        Value::Int(number) => Some(number as f64),
        _ => None,
    }
}

pub(super) fn address_of(value: Value) -> Option<usize> {
    match value {
        Value::Table(table) => Some(table.as_ptr() as usize),
        Value::Closure(function) => Some(function.as_ptr() as usize),
        Value::Native(function) => Some(function.as_ptr() as usize),
        Value::Coro(thread) => Some(thread.as_ptr() as usize),
        Value::Userdata(data) => Some(data.as_ptr() as usize),
        _ => None,
    }
}

pub(super) fn is_same(left: Value, right: Value) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            left.ptr_eq(right) || left.as_bytes() == right.as_bytes()
        }
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Nil, Value::Nil) => true,
        (Value::LightUserdata(left), Value::LightUserdata(right)) => left == right,
        _ => match (as_number(left), as_number(right)) {
            (Some(left), Some(right)) => left == right,
            (None, None) => address_of(left).is_some_and(|left| address_of(right) == Some(left)),
            _ => false,
        },
    }
}
