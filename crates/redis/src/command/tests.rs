use super::*;

fn code(raw: &str) -> &'static str {
    match parse(raw.as_bytes()).command {
        Ok(command) => panic!("{raw} is {command:?}"),
        Err(refusal) => refusal.code.name(),
    }
}

fn op(raw: &str) -> Op {
    parse(raw.as_bytes()).command.unwrap().op
}

#[test]
fn the_seeds_commands_are_understood() {
    let raw = r#"{"op":"create","name":"X","dtype":"f32","shape":[2,3],"device":0,"id":"42","reply":"tensor:reply:42"}"#;
    let parsed = parse(raw.as_bytes());
    assert_eq!(parsed.envelope.id, Some(Id::Text("42".into())));
    assert_eq!(parsed.envelope.reply.as_deref(), Some("tensor:reply:42"));
    let shape = Shape::new([2, 3]).unwrap();
    let (name, dtype) = ("X".to_owned(), Dtype::F32);
    assert_eq!(parsed.command.unwrap().op, Op::Create { name, dtype, shape, device: 0, pid: None });
    assert_eq!(
        op(r#"{"op":"get","name":"X","pid":7}"#),
        Op::Get { name: "X".into(), pid: Some(7), device: None, dtype: None, shape: None }
    );
    assert_eq!(
        op(r#"{"op":"clone","src":"X","dst":"Y","device":1}"#),
        Op::Clone { from: "X".into(), to: "Y".into(), device: 1, pid: None }
    );
    assert_eq!(op(r#"{"op":"list"}"#), Op::List { prefix: String::new() });
    for dtype in ["f16", "bf16", "f64", "i8", "u8", "i16", "i32", "i64", "bool", "float32"] {
        op(&format!(r#"{{"op":"create","name":"X","dtype":"{dtype}","shape":[8]}}"#));
    }
}

#[test]
fn what_is_no_command_has_a_code() {
    assert_eq!(code("hello"), "bad_json");
    assert_eq!(code(""), "bad_json");
    assert_eq!(code("[1,2]"), "bad_json");
    assert_eq!(code("42"), "bad_json");
    assert_eq!(code(r#"{"op":"get","name":"X"} trailing"#), "bad_json");
    assert_eq!(code(&format!("{}{}", "[".repeat(30_000), "]".repeat(30_000))), "bad_json");
    let nested = format!(r#"{{"op":"get","name":{}1{}}}"#, "[".repeat(999), "]".repeat(999));
    assert!(["bad_json", "invalid"].contains(&code(&nested)));
    assert_eq!(code(r#"{"op":"format"}"#), "unknown_op");
    assert_eq!(code(r#"{"name":"X"}"#), "missing_field");
    assert_eq!(code(r#"{"op":"get"}"#), "missing_field");
    assert_eq!(code(r#"{"op":"create","name":"X","shape":[1]}"#), "missing_field");
    assert_eq!(code(r#"{"op":"create","name":"X","dtype":"f32"}"#), "missing_field");
    assert_eq!(code(r#"{"op":"clone","name":"X","dst":"Y"}"#), "missing_field");
    for bad in [
        r#"{"op":"create","name":"X","dtype":"f33","shape":[1]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[-1]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[0]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[1.5]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":"[2,3]"}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[18446744073709551616]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[4294967296,4294967296]}"#,
        r#"{"op":"create","name":"X","dtype":"f4","shape":[3]}"#,
        r#"{"op":"create","name":"~7/X","dtype":"f32","shape":[3]}"#,
        r#"{"op":"create","name":"a b","dtype":"f32","shape":[3]}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[3],"device":-1}"#,
        r#"{"op":"get","name":"X","pid":0}"#,
        r#"{"op":"get","name":"X","pid":99999999999}"#,
        r#"{"op":"get","name":"X","pid":4294967295}"#,
        r#"{"op":"get","name":"X","name":"Y"}"#,
        r#"{"op":"get","name":"X","devcie":1}"#,
        r#"{"op":"get","name":"{X}"}"#,
        r#"{"op":"get","name":"cmd"}"#,
        r#"{"op":"get","name":"X","node":"a b"}"#,
        r#"{"op":7}"#,
    ] {
        assert_eq!(code(bad), "invalid", "{bad}");
    }
    let dims = format!("[{}1]", "1,".repeat(999));
    let many = format!(r#"{{"op":"create","name":"X","dtype":"f32","shape":{dims}}}"#);
    assert_eq!(code(&many), "invalid");
}

#[test]
fn a_large_command_is_answered_and_not_read() {
    let pad = "x".repeat(1 << 20);
    let raw = format!(r#"{{"op":"get","name":"{pad}","id":7,"reply":"tensor:reply:7"}}"#);
    let parsed = parse(raw.as_bytes());
    assert_eq!(parsed.command.unwrap_err().code.name(), "too_large");
    assert_eq!(parsed.envelope.reply.as_deref(), Some("tensor:reply:7"));
    assert_eq!(parsed.envelope.id, Some(Id::Number(7.into())));
    let cut = &raw.as_bytes()[..1 << 19];
    assert_eq!(parse(cut).envelope, Envelope::default());
    assert_eq!(parse(cut).command.unwrap_err().code.name(), "too_large");
}

#[test]
fn whoever_asked_is_known_also_where_the_rest_is_wrong() {
    let parsed = parse(br#"{"op":"get","nmae":"X","id":"a","reply":"tensor:reply:a"}"#);
    assert_eq!(parsed.envelope.reply.as_deref(), Some("tensor:reply:a"));
    assert!(parsed.command.is_err());
    let parsed = parse(br#"{"op":"get","name":"X","id":[1],"reply":7}"#);
    assert_eq!(parsed.envelope, Envelope::default());
    let long = format!(r#"{{"op":"get","name":"X","id":"{}"}}"#, "i".repeat(ID_BYTES + 1));
    assert_eq!(code(&long), "invalid");
}

#[test]
fn the_same_bytes_with_an_id_have_the_same_token() {
    let token = |raw: &str| parse(raw.as_bytes()).command.unwrap().token;
    let raw = r#"{"op":"get","name":"X","id":1}"#;
    assert_eq!(token(raw), token(raw));
    assert_ne!(token(raw), token(r#"{"op":"get","name":"X","id":2}"#));
    let bare = r#"{"op":"get","name":"X"}"#;
    assert_ne!(token(bare), token(bare));
}

#[test]
fn what_is_said_has_no_control_characters() {
    let raw = "{\"op\":\"\\u001b[31mred\"}";
    let said = parse(raw.as_bytes()).command.unwrap_err().message;
    assert!(!said.contains('\u{1b}'), "{said}");
}
