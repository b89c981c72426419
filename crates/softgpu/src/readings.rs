//! What a device says of itself beside its memory. Nothing runs on it, so the numbers are claims: those
//! of its profile, or of `MILLPOND_SOFT_READINGS`.

/// Readings of a device; what a card of its model does not say is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    pub utilisation_percent: Option<u32>,
    pub memory_percent: Option<u32>,
    pub temperature_celsius: Option<u32>,
    pub power_milliwatts: Option<u32>,
    pub power_limit_milliwatts: Option<u32>,
    pub fan_percent: Option<u32>,
}

/// What the variable may hold.
pub const FORM: &str =
    "a list such as `utilisation=35,memory=12,temperature=41,power=312000,limit=700000,fan=none`";

impl Readings {
    /// These readings, with those that the text names in their place.
    #[must_use]
    pub fn with(mut self, text: &str) -> Option<Self> {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            let value = if value == "none" { None } else { Some(value.parse().ok()?) };
            let field = match name {
                "utilisation" => &mut self.utilisation_percent,
                "memory" => &mut self.memory_percent,
                "temperature" => &mut self.temperature_celsius,
                "power" => &mut self.power_milliwatts,
                "limit" => &mut self.power_limit_milliwatts,
                "fan" => &mut self.fan_percent,
                _ => return None,
            };
            *field = value;
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_changes_what_it_names() {
        let card = Readings {
            temperature_celsius: Some(34),
            fan_percent: Some(30),
            ..Readings::default()
        };
        let read = card.with("utilisation=35, fan=none").unwrap();
        assert_eq!((read.utilisation_percent, read.temperature_celsius), (Some(35), Some(34)));
        assert_eq!(read.fan_percent, None);
        assert_eq!(card.with(""), Some(card));
        for bad in ["fan", "speed=1", "fan=-1", "fan=12x"] {
            assert_eq!(card.with(bad), None, "{bad}");
        }
    }
}
