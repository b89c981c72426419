//! All end-to-end tests, in one executable instead of forty that are compiled and linked one by one.
//! `scripts/run-tests` and the machine with the GPU run each module in a process of its own.

#![forbid(unsafe_code)]

mod accounts;
mod budget_faults;
mod budget_soft;
mod card;
mod containers;
mod crash_loop;
mod elastic;
mod elastic_kills;
mod elastic_storm;
mod ends;
mod falls_off;
mod faults;
mod gone;
mod groups;
mod half_dead;
mod holds;
mod hostile;
mod identity;
mod kills;
mod leaks;
mod life;
mod limits;
mod limits_cli;
mod limits_compat;
mod limits_containers;
mod limits_docs;
mod limits_escapes;
mod limits_pond;
mod logs;
mod map;
mod models;
mod movers;
mod moves;
mod page;
mod parity;
mod pool;
mod retire;
mod siege;
mod slow;
mod starting;
mod steps;
mod stopped;
mod surroundings;
mod taken;
mod ties;
mod transports;
mod upgrade;
mod users;
mod watching;
mod weights;
mod weights_faults;
