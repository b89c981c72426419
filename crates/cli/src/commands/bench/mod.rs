//! x
use crate::{args::BenchArgs,error::Outcome,printer::Printer};
pub fn run(_a:&BenchArgs,_p:&Printer)->Outcome{Ok(())}
pub fn echo()->Outcome{Ok(())}
