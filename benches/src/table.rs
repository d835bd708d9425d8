//! Rows of JSON as a table in text form.

use std::io::{Result, Write};

use serde_json::Value;

/// Number format of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text without formatting.
    Text,
    /// Three decimals.
    Number,
    /// Two digits and an exponent.
    Small,
    /// A whole number.
    Count,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    head: &'static str,
    key: &'static str,
    style: Style,
}

impl Column {
    /// A column with the values of `key` under `head`.
    pub const fn new(head: &'static str, key: &'static str, style: Style) -> Self {
        Self { head, key, style }
    }

    fn text(&self, row: &Value) -> String {
        let value = &row[self.key];
        let text = match self.style {
            Style::Text => value.as_str().map(str::to_owned),
            Style::Number => value.as_f64().map(|x| format!("{x:.3}")),
            Style::Small => value.as_f64().map(|x| format!("{x:.1e}")),
            Style::Count => value.as_u64().map(|n| n.to_string()),
        };
        text.unwrap_or_else(|| "-".into())
    }
}

/// Writes rows under the column heads, with `-` for missing values.
///
/// # Errors
/// As writing to `out`.
pub fn write_table(out: &mut impl Write, columns: &[Column], rows: &[Value]) -> Result<()> {
    let texts: Vec<Vec<String>> = columns
        .iter()
        .map(|column| {
            let head = std::iter::once(column.head.to_owned());
            head.chain(rows.iter().map(|row| column.text(row))).collect()
        })
        .collect();
    for line in 0..=rows.len() {
        for (n, (column, texts)) in columns.iter().zip(&texts).enumerate() {
            let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
            let text = &texts[line];
            let space = if n > 0 { "  " } else { "" };
            match column.style {
                Style::Text => write!(out, "{space}{text:width$}")?,
                _ => write!(out, "{space}{text:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
