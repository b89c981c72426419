//! The two programs of candle-cuda-vmm's front page are the same in the example, which runs them, and
//! in the documentation, which people read.

const QUICK_START: &str = include_str!("../../examples/seed/quick_start.rs");
const MULTI_MODEL: &str = include_str!("../../examples/seed/multi_model.rs");

/// The documentation of a file as plain text.
fn documentation(source: &str) -> String {
    let lines = source.lines().filter_map(|line| {
        line.strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_documentation_has_the_programs_that_the_example_runs() {
    for (page, program) in [
        (include_str!("../../src/lib.rs"), QUICK_START),
        (include_str!("../../src/shared_memory.rs"), MULTI_MODEL),
    ] {
        assert!(documentation(page).contains(program.trim_end()), "{program}");
    }
}
