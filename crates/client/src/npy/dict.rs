//! The dict of a header: a Python literal, but only as much of Python as one needs.

/// What the dict says.
#[derive(Debug)]
pub struct Dict {
    /// The type of the elements, as numpy writes it.
    pub descr: Descr,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// The extents.
    pub shape: Vec<u64>,
}

/// The value of `descr`.
#[derive(Debug)]
pub enum Descr {
    /// One name.
    Text(String),
    /// A list or tuple of fields, which is not read any further.
    Fields,
}

/// What is wrong, and where in the header.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The byte.
    pub at: usize,
    /// What.
    pub what: &'static str,
}

/// Reads the whole header.
pub fn read(text: &[u8]) -> Result<Dict, Wrong> {
    let mut reader = Reader { text, at: 0 };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    reader.expect(b'{', "a dict begins with {")?;
    while !reader.taken(b'}') {
        let key_at = reader.at;
        let key = reader.string()?;
        reader.expect(b':', "a key is followed by :")?;
        let twice = match key {
            b"descr" => {
                let value = reader.descr()?;
                if matches!(value, Descr::Fields) {
                    // Such a dtype is refused whatever the rest says.
                    let fortran_order = false;
                    return Ok(Dict { descr: value, fortran_order, shape: Vec::new() });
                }
                descr.replace(value).is_some()
            }
            b"fortran_order" => fortran_order.replace(reader.truth()?).is_some(),
            b"shape" => shape.replace(reader.extents()?).is_some(),
            _ => {
                let what = "a key that is not descr, fortran_order or shape";
                return Err(Wrong { at: key_at, what });
            }
        };
        if twice {
            return Err(Wrong { at: key_at, what: "a key for the second time" });
        }
        if !reader.taken(b',') {
            reader.expect(b'}', "entries are separated by commas and end with }")?;
            break;
        }
    }
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.wrong("only spaces may follow the dict"));
    }
    let missing = |what| Wrong { at: text.len(), what };
    Ok(Dict {
        descr: descr.ok_or_else(|| missing("there is no descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("there is no fortran_order"))?,
        shape: shape.ok_or_else(|| missing("there is no shape"))?,
    })
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, what: &'static str) -> Wrong {
        Wrong { at: self.at, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Whether this byte comes next, which is taken then.
    fn taken(&mut self, byte: u8) -> bool {
        self.skip_space();
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Wrong> {
        if self.taken(byte) { Ok(()) } else { Err(self.wrong(what)) }
    }

    /// Everything from here on for which `belongs` holds.
    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn string(&mut self) -> Result<&'a [u8], Wrong> {
        self.skip_space();
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong("a quoted text must be here")),
        };
        self.at += 1;
        let text = self.run(|byte| byte != quote && byte != b'\\' && byte != b'\n');
        if self.peek() != Some(quote) {
            return Err(self.wrong("the quoted text does not end, or has a backslash"));
        }
        self.at += 1;
        Ok(text)
    }

    fn descr(&mut self) -> Result<Descr, Wrong> {
        self.skip_space();
        match self.peek() {
            Some(b'[' | b'(') => Ok(Descr::Fields),
            _ => Ok(Descr::Text(String::from_utf8_lossy(self.string()?).into_owned())),
        }
    }

    fn truth(&mut self) -> Result<bool, Wrong> {
        self.skip_space();
        let at = self.at;
        match self.run(|byte| byte.is_ascii_alphanumeric()) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(Wrong { at, what: "True or False must be here" }),
        }
    }

    fn extents(&mut self) -> Result<Vec<u64>, Wrong> {
        self.expect(b'(', "a shape begins with (")?;
        let mut extents = Vec::new();
        while !self.taken(b')') {
            extents.push(self.number()?);
            if self.taken(b',') {
                continue;
            }
            self.expect(b')', "extents are separated by commas and end with )")?;
            if extents.len() == 1 {
                return Err(self.wrong("a single extent is followed by a comma, as in (3,)"));
            }
            break;
        }
        Ok(extents)
    }

    fn number(&mut self) -> Result<u64, Wrong> {
        self.skip_space();
        let at = self.at;
        let digits = self.run(|byte| byte.is_ascii_digit());
        let canonical = digits == b"0" || digits.first().is_some_and(|digit| *digit != b'0');
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        // Python 2 wrote long numbers as 3L.
        if self.peek() == Some(b'L') {
            self.at += 1;
        }
        number
            .filter(|_| canonical)
            .ok_or(Wrong { at, what: "a number from 0 to 2^64 - 1 must be here" })
    }
}
