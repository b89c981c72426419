//! What a client says about its own steps, line by line: the parent counts, and picks its moments.

use std::fmt;

macro_rules! steps {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// What a client is about to do, or has just done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Step {
            $(#[doc = $doc] $variant,)*
        }

        impl Step {
            pub(crate) const ALL: &'static [Step] = &[$(Step::$variant,)*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Step::$variant => $name,)* }
            }
        }
    };
}

steps! {
    Connecting "connecting" "The hello comes next.";
    Creating "creating" "A create comes next.";
    Writing "writing" "The tensor is there and is written.";
    Publishing "publishing" "A publish comes next.";
    Published "published" "The publish was answered.";
    Uploading "uploading" "A put through the mover comes next.";
    Downloading "downloading" "A download through the mover comes next.";
    Copying "copying" "A copy by the mover comes next.";
    Getting "getting" "A get comes next.";
    Verified "verified" "Every byte was read and was right.";
    Deleting "deleting" "A delete comes next.";
    Deleted "deleted" "The delete was answered.";
    Releasing "releasing" "Tensors were dropped; a flush comes next.";
    Listing "listing" "A listing comes next.";
}

impl Step {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|step| step.name() == name)
    }

    /// Whether the mover works for it.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Self::Uploading | Self::Downloading | Self::Copying)
    }

    /// Whether a request to the pond follows.
    pub(crate) fn asks(self) -> bool {
        !matches!(self, Self::Writing | Self::Published | Self::Verified | Self::Deleted)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
