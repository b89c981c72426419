//! Changes: which one a key means for the selected row, and the question before it.

use millpond_view::{Model, Version};

use super::{LimitInput, Mode, Notice, Order, State};
use crate::actions::{Action, Limit, Refusal};
use crate::input::Key;
use crate::keys::Meaning;
use crate::panes::{Pane, Thing};

/// The longest limit that means anything.
const LIMIT_CHARS: usize = 32;

impl State {
    /// Asks before a change, or says why there is none.
    pub(super) fn ask_for(&mut self, means: Meaning) {
        if let Some(refusal) = &self.refusal {
            self.mode = Mode::Refused(refusal.clone());
            return;
        }
        let mode = match means {
            Meaning::Limit => self.limit().map(Mode::Limit),
            means => self.version_change(means).map(Mode::Ask),
        };
        self.mode = mode.unwrap_or_else(Mode::Refused);
    }

    pub(super) fn answer_question(&mut self, key: Key, action: Action) -> Option<Order> {
        match key {
            Key::Char('y' | 'Y') => {
                let text = "asked for, and not answered yet".to_owned();
                self.notice = Some(Notice { text, good: true });
                Some(Order::Act(action))
            }
            Key::Char('n' | 'N' | 'q') | Key::Escape => {
                self.notice = Some(Notice { text: "nothing was changed".to_owned(), good: true });
                None
            }
            _ => {
                self.mode = Mode::Ask(action);
                None
            }
        }
    }

    pub(super) fn write_limit(&mut self, key: Key, mut input: LimitInput) {
        input.wrong = None;
        match key {
            Key::Escape => return,
            Key::Backspace => drop(input.text.pop()),
            Key::Control('u') => input.text.clear(),
            Key::Char(character) if input.text.chars().count() < LIMIT_CHARS => {
                input.text.push(character);
            }
            Key::Enter => match Limit::read(&input.text) {
                Ok(limit) => {
                    self.mode = Mode::Ask(Action::Limit {
                        group: input.group,
                        device: input.device,
                        gpu: input.gpu,
                        limit,
                        used_bytes: input.used_bytes,
                    });
                    return;
                }
                Err(wrong) => input.wrong = Some(wrong),
            },
            _ => {}
        }
        self.mode = Mode::Limit(input);
    }

    fn limit(&self) -> Result<LimitInput, Refusal> {
        let elsewhere =
            || Refusal::new("a limit is that of a group", "select a group: key 3, then L");
        let (group, device) = match self.selected() {
            Some(Thing::Group(group, Some(device))) => (group, device),
            Some(Thing::Group(group, None)) => {
                return Err(Refusal::new(
                    format!("group {} is on no GPU", group.name.0),
                    format!("millpond group set {} --limit 10G", group.name.0),
                ));
            }
            _ => return Err(elsewhere()),
        };
        let uuid = device.device.to_string();
        let cards = self.overview().map(|overview| overview.cards.as_slice()).unwrap_or_default();
        let card = cards.iter().find(|card| card.device == uuid);
        Ok(LimitInput {
            group: group.name.0.clone(),
            device: device.device.0,
            gpu: card.map(|card| card.index),
            limit_bytes: device.limit_bytes,
            used_bytes: device.used_bytes,
            text: String::new(),
            wrong: None,
        })
    }

    fn version_change(&self, means: Meaning) -> Result<Action, Refusal> {
        let (model, version) = match (self.pane(), self.selected()) {
            (Pane::Models, Some(Thing::Version(model, version))) => (model, version),
            _ => {
                return Err(Refusal::new(
                    "only versions of models are swapped, rolled back and retired",
                    "select a version: key 2",
                ));
            }
        };
        let name = self.called(model);
        let from = model.current.as_ref().map(|tag| tag.to_string());
        if means == Meaning::Rollback {
            let previous = model.versions.iter().find(|version| version.previous);
            let to = previous.map(|version| version.version.to_string()).ok_or_else(|| {
                Refusal::new(
                    format!("{name} has no version to roll back to"),
                    "select a version, and swap to it: w",
                )
            })?;
            return Ok(Action::Rollback { model: name, to, from });
        }
        let Some(version) = version else {
            let message = format!("{name} has no versions");
            return Err(Refusal::new(message, format!("millpond load {name} FILE")));
        };
        let label = format!("{name}@{}", version.version.0);
        if means == Meaning::Swap {
            return swap(name, version, &label, from);
        }
        if version.current {
            return Err(Refusal::new(
                format!("{label} is the current version"),
                format!("swap to another one first, or remove it: millpond rm {label}"),
            ));
        }
        Ok(Action::Retire {
            version: version.id.0,
            label,
            readers: version.readers,
            own_bytes: version.own_bytes,
        })
    }

    /// A model as this user has to call it.
    fn called(&self, model: &Model) -> String {
        let name = model.name.as_str();
        if model.user == self.me || name.starts_with("public/") {
            return name.to_owned();
        }
        format!("~{}/{name}", model.user)
    }
}

fn swap(
    model: String,
    version: &Version,
    label: &str,
    from: Option<String>,
) -> Result<Action, Refusal> {
    if version.current {
        let message = format!("{label} is current already");
        return Err(Refusal::new(message, "select another version"));
    }
    Ok(Action::Swap { model, tag: version.version.to_string(), from })
}
