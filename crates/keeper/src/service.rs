//! Which unit of the service manager this process belongs to.

use millpond_wire::message::Service;

/// The unit that runs this process. `INVOCATION_ID` alone does not say so: every program that is
/// started from a desktop's terminal inherits one.
#[must_use]
pub fn service() -> Option<Service> {
    std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty())?;
    unit(&std::fs::read_to_string("/proc/self/cgroup").ok()?)
}

/// The last part of the control group is the unit; a scope is nobody's service.
fn unit(cgroups: &str) -> Option<Service> {
    let path = |line: &'_ str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        ["", "name=systemd"].contains(&controllers).then(|| path.to_owned())
    };
    let path = cgroups.lines().find_map(path)?;
    let (above, unit) = path.rsplit_once('/')?;
    let user = above.split('/').any(|part| part.starts_with("user@"));
    unit.ends_with(".service").then(|| Service { unit: unit.to_owned(), user })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_last_part_of_the_control_group() {
        let of = |path: &str| unit(path).map(|service| (service.unit, service.user));
        let name = "millpond.service".to_owned();
        assert_eq!(of("0::/system.slice/millpond.service\n"), Some((name.clone(), false)));
        let user = "0::/user.slice/user-5.slice/user@5.service/app.slice/millpond.service\n";
        assert_eq!(of(user), Some((name.clone(), true)));
        let old = "4:memory:/x\n1:name=systemd:/system.slice/millpond.service\n";
        assert_eq!(of(old), Some((name, false)));
        assert_eq!(of("0::/user.slice/user@5.service/app.slice/vte-spawn-1.scope\n"), None);
        assert_eq!(of("0::/\n"), None);
        assert_eq!(of(""), None);
    }
}
