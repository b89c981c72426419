//! The configuration file: TOML, with `${VARIABLE}` inside texts.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::Input;
use super::{ConfigError, Environment, KEYS, Key, Origin};

/// One line of a file.
pub(super) struct Setting {
    pub key: &'static Key,
    pub origin: Origin,
    pub input: Input,
}

/// Reads a file's text completely, in the order of its keys.
pub(super) fn read(
    file: &Path,
    source: &str,
    environment: Environment<'_>,
) -> Result<Vec<Setting>, ConfigError> {
    let reader = Reader { file, source, environment };
    let table = DeTable::parse(source).map_err(|error| ConfigError::Syntax {
        origin: reader.origin(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut settings = Vec::new();
    reader.table("", table.get_ref(), &mut settings)?;
    Ok(settings)
}

struct Reader<'a> {
    file: &'a Path,
    source: &'a str,
    environment: Environment<'a>,
}

impl Reader<'_> {
    fn origin(&self, offset: usize) -> Origin {
        let before = self.source.as_bytes().get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Origin::File { file: self.file.to_owned(), line }
    }

    fn table(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        settings: &mut Vec<Setting>,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let full = format!("{prefix}{}", name.get_ref());
            let origin = self.origin(name.span().start);
            let inside = format!("{full}.");
            if let Some(key) = KEYS.iter().find(|key| key.name == full) {
                let input = self.input(key, &origin, value)?;
                settings.push(Setting { key, origin, input });
            } else if let DeValue::Table(table) = value.get_ref()
                && KEYS.iter().any(|key| key.name.starts_with(&inside))
            {
                self.table(&inside, table, settings)?;
            } else {
                return Err(ConfigError::UnknownKey { origin, key: full });
            }
        }
        Ok(())
    }

    fn input(
        &self,
        key: &'static Key,
        origin: &Origin,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Input, ConfigError> {
        let pairs = |items: &DeTable<'_>| {
            let pair = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let name: &Spanned<std::borrow::Cow<'_, str>> = name;
                let origin = self.origin(name.span().start);
                Ok((name.get_ref().to_string(), self.text(key, &origin, value)?))
            };
            items.iter().map(pair).collect::<Result<Vec<_>, ConfigError>>()
        };
        match value.get_ref() {
            DeValue::Array(items) if items.iter().any(|item| item.get_ref().is_table()) => {
                let tables = items.iter().map(|item| match item.get_ref() {
                    DeValue::Table(table) => pairs(table),
                    _ => Ok(Vec::new()),
                });
                tables.collect::<Result<_, _>>().map(Input::Tables)
            }
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.text(key, origin, item));
                items.collect::<Result<_, _>>().map(Input::List)
            }
            DeValue::Table(items) => pairs(items).map(Input::Table),
            _ => self.text(key, origin, value).map(Input::Text),
        }
    }

    fn text(
        &self,
        key: &'static Key,
        origin: &Origin,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<String, ConfigError> {
        match value.get_ref() {
            DeValue::String(text) => self.substitute(key, origin, text),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            other => Err(ConfigError::Value {
                origin: origin.clone(),
                key: key.name,
                message: format!("a text or number is expected, not a {}", other.type_str()),
            }),
        }
    }

    /// `${NAME}` and `${NAME:default}` are variables, `$$` is a dollar.
    fn substitute(
        &self,
        key: &'static Key,
        origin: &Origin,
        text: &str,
    ) -> Result<String, ConfigError> {
        let refuse =
            |message: String| ConfigError::Value { origin: origin.clone(), key: key.name, message };
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            result.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                result.push('$');
                rest = after;
                continue;
            }
            let inside = after.strip_prefix('{').and_then(|after| after.split_once('}'));
            let Some((inside, after)) = inside else {
                return Err(refuse(format!("'{text}' has a `$` alone; a dollar is `$$`")));
            };
            let (name, default) = match inside.split_once(':') {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(refuse(format!("'{name}' is not the name of a variable")));
            }
            let value = (self.environment)(name).map(|value| {
                value.into_string().map_err(|_| refuse(format!("variable '{name}' is not UTF-8")))
            });
            match (value.transpose()?, default) {
                (Some(value), _) => result.push_str(&value),
                (None, Some(default)) => result.push_str(default),
                (None, None) => {
                    return Err(ConfigError::Unset {
                        origin: origin.clone(),
                        key: key.name,
                        variable: name.to_owned(),
                    });
                }
            }
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }
}
