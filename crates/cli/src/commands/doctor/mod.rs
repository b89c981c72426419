//! x
use crate::{args::Global,error::Outcome,printer::Printer};
pub fn run(_a:&Global,_p:&Printer)->Outcome{Ok(())}
