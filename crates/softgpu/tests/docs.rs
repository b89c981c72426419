//! The documents say what the code says.

use millpond_softgpu::ENVIRONMENT;

const SOFTWARE_DRIVER: &str = include_str!("../../../docs/software-driver.md");
const DIFFERENCES: &str = include_str!("../../../docs/driver-differences.md");

#[test]
fn the_table_of_variables_is_the_one_in_the_code() {
    let rows: Vec<String> = ENVIRONMENT
        .iter()
        .map(|v| format!("| `{}` | {} | {} | {} |", v.name, v.values, v.default, v.meaning))
        .collect();
    let written: Vec<&str> =
        SOFTWARE_DRIVER.lines().filter(|line| line.starts_with("| `MILLPOND_SOFT_")).collect();
    assert_eq!(written, rows, "docs/software-driver.md, \"Settings\"");
}

#[test]
fn the_fault_grammar_is_the_one_in_the_code() {
    let code = include_str!("../src/faults.rs");
    let grammar = code.split("//! ```text\n").nth(1).and_then(|rest| rest.split("//! ```").next());
    let grammar: Vec<&str> =
        grammar.unwrap_or_default().lines().map(|line| line.trim_start_matches("//! ")).collect();
    assert!(grammar.len() > 5 && SOFTWARE_DRIVER.contains(&grammar.join("\n")));
}

#[test]
fn every_attribute_that_differs_is_explained() {
    let probe = include_str!("probe/differences.txt");
    let numbers = probe
        .lines()
        .filter_map(|line| line.strip_prefix("[devices] attribute ")?.split(' ').next());
    for number in numbers {
        let listed = DIFFERENCES
            .lines()
            .any(|line| line.starts_with("| attribute") && line.contains(number));
        assert!(listed, "attribute {number} is not in docs/driver-differences.md");
    }
}
