//! The value of a condition, and how Intercept compares counters with it.

use std::rc::Rc;

use crate::json::Json;
use crate::yaml::{Node, Scalar, Value, is_json_number};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Null,
    Bool(bool),
    /// The value, and how it is written in JSON.
    Number(f64, String),
    Text(String),
    List(Vec<Operand>),
    /// A map; Intercept compares how Go prints it.
    Map,
}

/// Why a scalar cannot be an operand.
pub(super) enum Unfit {
    Unsigned,
    NotFinite,
    Time,
}

impl Operand {
    pub(super) fn of(node: Option<&Rc<Node>>) -> Result<Operand, Unfit> {
        let Some(node) = node else { return Ok(Operand::Null) };
        match &node.value {
            Value::List(items) => {
                items.iter().map(|item| Operand::of(Some(item))).collect::<Result<_, _>>().map(Operand::List)
            }
            Value::Map(_) => Ok(Operand::Map),
            Value::Scalar { text, scalar } => match *scalar {
                Scalar::Null => Ok(Operand::Null),
                Scalar::Bool(b) => Ok(Operand::Bool(b)),
                Scalar::Int(n) => Ok(Operand::Number(n as f64, n.to_string())),
                Scalar::Float(f) if !f.is_finite() => Err(Unfit::NotFinite),
                Scalar::Float(f) => {
                    let written = if is_json_number(text) { text.clone() } else { f.to_string() };
                    Ok(Operand::Number(f, written))
                }
                Scalar::Unsigned(_) => Err(Unfit::Unsigned),
                Scalar::Time => Err(Unfit::Time),
                Scalar::Text | Scalar::Merge => Ok(Operand::Text(text.clone())),
            },
        }
    }

    /// As one plain value of our language; `None` for lists and maps.
    pub(super) fn plain(&self) -> Option<Json> {
        Some(match self {
            Operand::Null => Json::Raw("null".to_owned()),
            Operand::Bool(b) => Json::Raw(b.to_string()),
            Operand::Number(_, written) => Json::Raw(written.clone()),
            Operand::Text(text) => Json::text(text.as_str()),
            Operand::List(_) | Operand::Map => return None,
        })
    }

    /// Is a counter that stands at `value` equal to this? Numbers by value, all else by how Go prints it.
    pub(super) fn equals_count(&self, value: u64) -> bool {
        match self {
            Operand::Number(number, _) => *number == value as f64,
            Operand::Text(text) => *text == value.to_string(),
            Operand::Null | Operand::Bool(_) | Operand::List(_) | Operand::Map => false,
        }
    }

    /// The count that this is equal to, if there is one.
    pub(super) fn as_count(&self) -> Option<u64> {
        let count = match self {
            Operand::Number(number, _) if *number >= 0.0 && number.fract() == 0.0 && *number < 9e15 => {
                *number as u64
            }
            Operand::Text(text) => text.parse().ok()?,
            _ => return None,
        };
        self.equals_count(count).then_some(count)
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Operand::Number(number, _) => Some(*number),
            _ => None,
        }
    }
}
