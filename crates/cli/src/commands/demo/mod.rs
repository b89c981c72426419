//! x
use crate::{args::DemoArgs,error::Outcome,printer::Printer};
pub fn run(_a:&DemoArgs,_p:&Printer)->Outcome{Ok(())}
