use proptest::prelude::*;

use super::*;

fn source(name: &str, dtype: Dtype, dims: &[u64], file_offset: u64) -> SourceTensor {
    let shape = Shape::new_or_empty(dims).unwrap();
    let bytes = shape.bytes(dtype).unwrap();
    SourceTensor { name: name.to_owned(), dtype, shape, file: 3, file_offset, bytes }
}

fn run(file_offset: u64, bytes: u64) -> Run {
    Run { file_offset, bytes }
}

fn planned(plan: &str, tensor: SourceTensor) -> Result<PlannedTensor, String> {
    let plan = Plan::parse(plan).map_err(|error| error.to_string())?;
    let planned = plan.apply_to(&[tensor]).map_err(|error| error.to_string())?;
    Ok(planned.into_iter().next().unwrap())
}

#[test]
fn ranks_take_their_parts() {
    let text = |rank| {
        format!(
            r#"{{"rank":{rank},"world":2,"rules":[
                {{"match":"*.q_proj.weight","split":"column"}},
                {{"match":"*.o_proj.weight","split":"row"}},
                {{"match":"lm_head.*","slice":[[1,3],null]}},
                {{"match":"*.rope","split":"skip"}},
                {{"match":"*","split":"replicate"}}]}}"#
        )
    };
    let tensors = [
        source("l.q_proj.weight", Dtype::Bf16, &[4, 6], 100),
        source("l.o_proj.weight", Dtype::Bf16, &[3, 4], 200),
        source("lm_head.weight", Dtype::F32, &[4, 2], 300),
        source("l.rope", Dtype::F32, &[4], 400),
        source("l.norm", Dtype::F32, &[4], 500),
    ];
    let taken = Plan::parse(&text(1)).unwrap().apply_to(&tensors).unwrap();
    let runs: Vec<&[Run]> = taken.iter().map(|tensor| &tensor.runs[..]).collect();
    assert_eq!(runs[0], [run(124, 24)]);
    assert_eq!(runs[1], [run(204, 4), run(212, 4), run(220, 4)]);
    assert_eq!(runs[2], [run(308, 16)]);
    assert_eq!(runs[3], [run(500, 16)]);
    let shapes: Vec<String> = taken.iter().map(|tensor| tensor.shape.to_string()).collect();
    assert_eq!(shapes, ["[2,6]", "[3,2]", "[2,2]", "[4]"]);
    assert_eq!((taken[1].bytes, taken[1].file), (12, 3));
    let whole = Plan::everything().apply_to(&tensors).unwrap();
    assert_eq!((whole.len(), &whole[1].runs[..]), (5, &[run(200, 24)][..]));
}

#[test]
fn what_no_rule_matches() {
    let tensors = [source("a", Dtype::U8, &[4], 0), source("b", Dtype::U8, &[4], 4)];
    let names = |text: &str| -> Vec<String> {
        let taken = Plan::parse(text).unwrap().apply_to(&tensors).unwrap();
        taken.into_iter().map(|tensor| tensor.name).collect()
    };
    assert_eq!(names(r#"{"rules":[{"match":"a","split":"skip"}]}"#), ["b"]);
    let only = r#"{"rules":[{"match":"a","split":"replicate"}],"otherwise":"skip"}"#;
    assert_eq!(names(only), ["a"]);
    let first = r#"{"rules":[{"match":"a","split":"skip"},{"match":"*","split":"replicate"}]}"#;
    assert_eq!(names(first), ["b"]);
    let none = Plan::parse(r#"{"otherwise":"skip"}"#).unwrap().apply_to(&tensors).unwrap_err();
    assert_eq!(none.to_string(), "the plan takes none of the 2 tensors");
}

#[test]
fn each_refusal_says_why() {
    let rule = |rest: &str| format!(r#"{{"rank":1,"world":2,"rules":[{{"match":"*",{rest}}}]}}"#);
    let tensor = || source("w", Dtype::F32, &[3, 4], 0);
    let packed = || source("w", Dtype::F4, &[2, 6], 0);
    let cases = [
        (planned("{", tensor()), "the plan cannot be read"),
        (planned(r#"{"ranks":1}"#, tensor()), "unknown field `ranks`"),
        (planned(r#"{"rank":2,"world":2}"#, tensor()), "rank 2 of 2"),
        (planned(&rule(r#""split":"diagonal""#), tensor()), "unknown variant `diagonal`"),
        (planned(&rule(r#""split":"row","slice":[]"#), tensor()), "rule 1 of the plan: say either"),
        (planned(r#"{"rules":[{"match":"*"}]}"#, tensor()), "rule 1 of the plan: say either"),
        (planned(r#"{"rules":[{"match":"a[","split":"row"}]}"#, tensor()), "pattern 'a['"),
        (
            planned(&rule(r#""split":"column""#), tensor()),
            "tensor 'w' of shape [3,4]: dimension 0 cannot be split for 2 ranks",
        ),
        (
            planned(&rule(r#""split":"row""#), source("b", Dtype::F32, &[4], 0)),
            "tensor 'b' of shape [4] has no dimension 1",
        ),
        (planned(&rule(r#""slice":[[0,4]]"#), tensor()), "the slice [0, 4] of dimension 0"),
        (planned(&rule(r#""slice":[null,[2,2]]"#), tensor()), "the slice [2, 2] of dimension 1"),
        (planned(&rule(r#""slice":[null,null,[0,1]]"#), tensor()), "no dimension 2"),
        (planned(&rule(r#""split":"row""#), packed()), "its F4 elements share bytes"),
        (planned(&rule(r#""slice":[null,[1,3]]"#), packed()), "its F4 elements share bytes"),
        (planned(&rule(r#""slice":[[0,1],[0,1]]"#), packed()), "its F4 elements share bytes"),
        (
            planned(&rule(r#""split":"row""#), source("w", Dtype::U8, &[1 << 30, 2], 0)),
            "read in 1073741824 runs",
        ),
    ];
    for (said, message) in cases {
        let said = said.unwrap_err();
        assert!(said.contains(message), "{said}\nlacks: {message}");
    }
    let packed = planned(&rule(r#""slice":[null,[2,4]]"#), packed()).unwrap();
    assert_eq!(packed.runs, [run(1, 1), run(4, 1)]);
    let empty = planned(&rule(r#""split":"row""#), source("e", Dtype::F32, &[0, 4], 7)).unwrap();
    assert_eq!((empty.bytes, empty.runs.len(), empty.shape.to_string()), (0, 0, "[0,2]".into()));
}

proptest! {
    /// Against the plainest way: look at every element.
    #[test]
    fn a_box_is_what_its_elements_are(
        dims in prop::collection::vec(1..5u64, 0..5),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 5),
    ) {
        let slices: Vec<(u64, u64)> = dims.iter().zip(&picks).map(|(dim, (start, length))| {
            let start = start.index(usize::try_from(*dim).unwrap()) as u64;
            (start, start + 1 + length.index(usize::try_from(dim - start).unwrap()) as u64)
        }).collect();
        let tensor = source("w", Dtype::F32, &dims, 1000);
        let text = serde_json::json!({"rules": [{"match": "w", "slice": slices}]}).to_string();
        let planned = planned(&text, tensor.clone()).unwrap();
        let strides = tensor.shape.strides();
        let expected: Vec<u64> = (0..tensor.shape.elements()).filter(|element| {
            strides.iter().zip(&dims).zip(&slices).all(|((stride, dim), (start, end))| {
                (*start..*end).contains(&(element / stride % dim))
            })
        }).map(|element| 1000 + element * 4).collect();
        let found: Vec<u64> = planned.runs.iter()
            .flat_map(|run| (run.file_offset..run.file_offset + run.bytes).step_by(4)).collect();
        prop_assert_eq!(found, expected);
        let merged = planned.runs.windows(2).all(|pair| {
            pair[0].file_offset + pair[0].bytes < pair[1].file_offset
        });
        prop_assert!(merged);
    }
}
