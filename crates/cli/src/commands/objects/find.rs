//! What a word of the command line means: a name, a prefix that ends in `/`, or a pattern.

use millpond::{Glob, IntoVersion, ModelInfo, Pond, TensorInfo, TensorName, VersionInfo};
use millpond_wire::{ErrorKind, Failure, VersionState, VersionTarget};

use super::object::{Kind, Object};
use crate::commands::model::neither;
use crate::commands::tensor::has_ended;
use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::{pond, users};

/// Characters that make a word a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// Everything that is shared with the caller.
pub struct Inventory {
    tensors: Vec<TensorInfo>,
    models: Vec<ModelInfo>,
}

impl Inventory {
    /// Asks the pond for all of it.
    pub fn read(pond: &Pond) -> Result<Self, CommandError> {
        Ok(Self { tensors: pond.list("")?, models: pond.models("")? })
    }

    /// Asks the pond for what these words need: a tensor that is named is asked for by its name, and
    /// there may be a million of them.
    pub fn read_for(pond: &Pond, words: &[Word<'_>]) -> Result<Self, CommandError> {
        let needs = |kind: Kind| words.iter().any(|word| word.may_be(kind));
        let patterns = words.iter().any(|word| !word.is_name() && word.may_be(Kind::Tensor));
        Ok(Self {
            tensors: if patterns { pond.list("")? } else { Vec::new() },
            models: if needs(Kind::Model) { pond.models("")? } else { Vec::new() },
        })
    }

    /// How many versions of a version's model new readers could get, or could once.
    pub fn live_versions(&self, of: &VersionInfo) -> usize {
        let versions = self.models.iter().flat_map(|model| &model.versions);
        let same = |info: &&VersionInfo| (&info.model, info.user) == (&of.model, of.user);
        let live = |info: &&VersionInfo| info.state != VersionState::Draining;
        versions.filter(same).filter(live).count()
    }

    pub fn objects(self) -> Vec<Object> {
        let versions = self.models.into_iter().flat_map(|model| model.versions);
        versions.map(Object::Version).chain(self.tensors.into_iter().map(Object::Tensor)).collect()
    }
}

pub struct Word<'a> {
    text: &'a str,
    kind: Option<Kind>,
    means: Means,
}

enum Means {
    Name,
    Prefix,
    Pattern(Glob),
}

impl<'a> Word<'a> {
    /// Reads a word; `only` says that nothing of another kind is meant.
    pub fn parse(word: &'a str, only: Option<Kind>) -> Result<Self, CommandError> {
        let of = |kind: Kind| word.strip_prefix(kind.name())?.strip_prefix(':');
        let kinds = [Kind::Model, Kind::Tensor].into_iter();
        let said = kinds.filter(|_| only.is_none()).find_map(|kind| Some((kind, of(kind)?)));
        let (kind, text) = match said {
            Some((kind, text)) => (Some(kind), text),
            None => (only, word),
        };
        let means = match glob(text)? {
            Some(glob) => Means::Pattern(glob),
            None if text.ends_with('/') => Means::Prefix,
            None => Means::Name,
        };
        Ok(Self { text, kind, means })
    }

    /// Whether it names one thing.
    pub fn is_name(&self) -> bool {
        matches!(self.means, Means::Name)
    }

    /// Whether it names a version, not a model.
    pub fn names_version(&self) -> bool {
        self.text.contains('@')
    }

    fn may_be(&self, kind: Kind) -> bool {
        self.kind.is_none_or(|only| only == kind)
    }

    /// Everything that it means; never nothing.
    pub fn find(&self, pond: &Pond, there: &Inventory) -> Result<Vec<Object>, CommandError> {
        match &self.means {
            Means::Name => self.named(pond, there),
            Means::Prefix | Means::Pattern(_) => {
                let found = self.matching(there);
                if found.is_empty() {
                    let message = format!("nothing of yours matches '{}'", self.text);
                    let failure = Failure::new(ErrorKind::NotFound, message);
                    return Err(failure.hint("`millpond ls` lists all objects").into());
                }
                Ok(found)
            }
        }
    }

    /// What a prefix or a pattern means: one's own, unless it begins with an owner.
    fn matching(&self, there: &Inventory) -> Vec<Object> {
        let versions = there.models.iter().flat_map(|model| &model.versions).cloned();
        let all = versions
            .map(Object::Version)
            .chain(there.tensors.iter().cloned().map(Object::Tensor))
            .filter(|object| self.may_be(object.kind()) && !is_over(object));
        let mine = |object: &Object| self.text.starts_with('~') || object.user() == users::me();
        all.filter(|object| mine(object) && self.matches(object)).collect()
    }

    fn matches(&self, object: &Object) -> bool {
        let Some(bare) = object.bare_name() else { return false };
        match &self.means {
            Means::Name => false,
            Means::Prefix => bare.starts_with(self.text),
            Means::Pattern(glob) => {
                let whole = self.text.contains('@').then(|| object.name());
                glob.matches(&whole.unwrap_or(bare))
            }
        }
    }

    /// The model, the version or the tensor of exactly this name.
    fn named(&self, pond: &Pond, there: &Inventory) -> Result<Vec<Object>, CommandError> {
        let text = self.text;
        let versions = if self.may_be(Kind::Model) { versions(there, text) } else { Vec::new() };
        let tensor = if self.may_be(Kind::Tensor) {
            let found = pond::target(pond, text).and_then(|it| Ok(pond.inspect(it)?.info));
            match found {
                // Of what is deleted only the identity is left.
                Ok(info) => Ok(Some(info)),
                Err(error) if is_none(&error) || !versions.is_empty() => Err(error),
                Err(error) => return Err(error),
            }
        } else {
            Ok(None)
        };
        match (versions.is_empty(), tensor) {
            (false, Ok(Some(_))) => Err(both(text)),
            (false, _) => Ok(versions.into_iter().map(Object::Version).collect()),
            (true, Ok(Some(info))) => Ok(vec![Object::Tensor(info)]),
            (true, Ok(None)) => match pond.version(text) {
                Err(error) => Err(error.into()),
                // It came since the listing.
                Ok(found) => Ok(vec![Object::Version(found.info)]),
            },
            (true, Err(no_tensor)) if self.kind.is_some() => Err(no_tensor),
            (true, Err(no_tensor)) => match pond.version(text) {
                Err(no_model) => Err(neither(text, no_model, no_tensor)),
                Ok(found) => Ok(vec![Object::Version(found.info)]),
            },
        }
    }
}

/// The pattern that a word is, if it is one.
pub fn glob(text: &str) -> Result<Option<Glob>, CommandError> {
    if !text.contains(PATTERN) {
        return Ok(None);
    }
    Glob::new(text).map(Some).ok_or_else(|| {
        let report = Report::new(Code::Usage, format!("'{text}': a '[' is not closed"));
        report.hint("a pattern has `*`, `?` or `[a-z]`").into()
    })
}

/// Whether nobody can get it any more.
fn is_over(object: &Object) -> bool {
    match object {
        Object::Tensor(info) => has_ended(info),
        Object::Version(info) => info.state == VersionState::Draining,
    }
}

fn is_none(error: &CommandError) -> bool {
    matches!(error, CommandError::Failed(report) if report.failure.kind == ErrorKind::NotFound)
}

/// The version, or all of a model's versions, that a name means.
fn versions(there: &Inventory, text: &str) -> Vec<VersionInfo> {
    let Ok(VersionTarget::Name(wanted)) = text.into_version() else {
        let all = there.models.iter().flat_map(|model| &model.versions);
        return all.filter(|info| info.version.to_string() == text).cloned().collect();
    };
    let user = wanted.model.user;
    let model = |name: &TensorName, user: Option<u32>| {
        let is_it =
            |model: &&ModelInfo| model.name == *name && user.is_none_or(|user| model.user == user);
        there.models.iter().find(is_it)
    };
    let own = if wanted.model.name.is_public() { user } else { user.or(Some(users::me())) };
    let Some(found) = model(&wanted.model.name, own) else { return Vec::new() };
    let of_tag = |info: &&VersionInfo| match &wanted.tag {
        Some(tag) => info.tag == *tag,
        None => true,
    };
    let mut versions: Vec<_> = found.versions.iter().filter(of_tag).cloned().collect();
    let live = versions.iter().any(|info| info.state != VersionState::Draining);
    // Those that drain already are on their way, unless there is nothing else.
    versions.retain(|info| !live || info.state != VersionState::Draining);
    versions
}

fn both(text: &str) -> CommandError {
    let message = format!("'{text}' is a model and a tensor");
    let report = Report::new(Code::Usage, message);
    report.hint(format!("say which one: `model:{text}` or `tensor:{text}`")).into()
}
