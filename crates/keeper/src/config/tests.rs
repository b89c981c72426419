use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use proptest::prelude::*;

use super::*;

fn load(variables: &[(&str, &str)], flags: &ConfigOverrides) -> Result<Config, ConfigError> {
    let find = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    };
    Config::load_from(Some(Path::new("/dev/null")), &find, flags)
}

#[test]
fn the_table_names_every_field_once_with_its_default() {
    let mut config = Config {
        runtime_dir: Some("/x".into()),
        driver: "soft".to_owned(),
        log: "debug".to_owned(),
        log_format: LogFormat::Json,
        log_file: Some("/x".into()),
        log_file_bytes: ByteSize(1),
        socket_group: "gpu".to_owned(),
        watch_group: "ops".to_owned(),
        public_writers: vec![PublicWriter::Everybody],
        load: vec![StartModel {
            name: "net".to_owned(),
            path: "/models/net".into(),
            version: None,
            device: Some("1".to_owned()),
        }],
        devices: vec![DeviceChoice::Index(1)],
        capacity: Capacity::Bytes(1),
        capacity_by_gpu: BTreeMap::from([(GpuUuid([1; 16]), Capacity::Bytes(1))]),
        recycle_bytes: ByteSize(1),
        drain_seconds: 1,
        watchdog_seconds: 1,
        mover_seconds: 1,
        mover_idle_seconds: 1,
        models: Models { keep_previous: 7 },
        limits: Limits {
            clients: 1,
            tensors: 1,
            tensors_per_user: 1,
            versions_per_user: 1,
            connections_per_user: 1,
            reply_bytes: ByteSize(1),
            reply_bytes_per_user: ByteSize(1),
            leases_per_client: 1,
            moves_per_user: 1,
            move_bytes_per_user: ByteSize(1),
            clients_per_user: 0,
            clients_per_process: 0,
            descriptors_in_flight: 0,
            descriptors_in_flight_per_user: 0,
            leases: 0,
            leases_per_user: 0,
            waits: 0,
            waits_per_user: 0,
            events_per_user: 0,
            groups: 0,
            groups_per_user: 0,
            runs_per_user: 0,
            holds_per_user: 0,
            holders_per_user: 0,
            hosts_per_user: 0,
        },
    };
    for key in KEYS {
        let before = config.clone();
        key.apply(&mut config, Input::Text(key.default.to_owned())).unwrap();
        assert_ne!(before, config, "`{}` sets nothing", key.name);
        assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}", key.name);
        let variable = format!("MILLPOND_{}", key.name.replace('.', "_").to_uppercase());
        assert_eq!(key.environment, variable);
    }
    assert_eq!(config, Config::default());
    let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), KEYS.len());
}

/// The page has the same rows in the same order; what has no default is told in words there.
#[test]
fn the_page_about_settings_has_every_key_as_it_is_here() {
    let page = include_str!("../../../../docs/configuration.md");
    let table = page.split("\n## Settings\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), KEYS.len());
    for (row, key) in rows.iter().zip(KEYS) {
        let shown = match (key.default, key.name) {
            ("", "runtime_dir") => "see below".to_owned(),
            ("", "devices") => "all".to_owned(),
            ("", _) => "none".to_owned(),
            (default, _) => format!("`{default}`"),
        };
        let is_flag = !key.name.contains('.');
        let flag = if is_flag { format!("`{}`", key.flag()) } else { "none".to_owned() };
        let (name, variable, doc) = (key.name, key.environment, key.doc);
        assert_eq!(*row, format!("| `{name}` | {shown} | `{variable}` | {flag} | {doc} |"));
    }
}

#[test]
fn every_flag_names_a_key() {
    let some = || Some("x".to_owned());
    let flags = ConfigOverrides {
        runtime_dir: None,
        driver: some(),
        log: some(),
        log_format: some(),
        log_file: some(),
        log_file_bytes: some(),
        socket_group: Some("gpu".into()),
        watch_group: Some("ops".into()),
        public_writers: vec!["everybody".into()],
        load: vec!["net=/models/net".into()],
        devices: vec!["x".to_owned()],
        capacity: some(),
        capacity_by_gpu: vec!["x".to_owned()],
        recycle_bytes: some(),
        drain_seconds: some(),
        watchdog_seconds: some(),
        mover_seconds: some(),
        mover_idle_seconds: some(),
    };
    for (name, _) in flags.texts() {
        assert!(KEYS.iter().any(|key| key.name == name), "{name}");
    }
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_defaults() {
    let variables = [
        ("MILLPOND_CAPACITY", "50%"),
        ("MILLPOND_DEVICES", "0, 1"),
        ("MILLPOND_RUNTIME_DIR", "/run/other"),
        ("MILLPOND_LOG", ""),
    ];
    let config = load(&variables, &ConfigOverrides::default()).unwrap();
    assert_eq!(config.capacity.to_string(), "50%");
    assert_eq!(config.devices, [DeviceChoice::Index(0), DeviceChoice::Index(1)]);
    assert_eq!(config.folder(), Path::new("/run/other"));
    assert_eq!(config.log, "info", "a variable that is set to nothing is not set");
    let gpu = GpuUuid([1; 16]);
    let flags = ConfigOverrides {
        runtime_dir: Some("/run/flag".into()),
        capacity: Some("1.5G".to_owned()),
        capacity_by_gpu: vec![format!("{gpu}=10G")],
        ..ConfigOverrides::default()
    };
    let config = load(&variables, &flags).unwrap();
    assert_eq!(config.capacity, Capacity::Bytes(3 << 29));
    assert_eq!(config.capacity_by_gpu, BTreeMap::from([(gpu, Capacity::Bytes(10 << 30))]));
    assert_eq!(config.folder(), Path::new("/run/flag"));
}

#[test]
fn errors_name_where_the_value_came_from() {
    let none = ConfigOverrides::default();
    let error = load(&[("MILLPOND_CAPACITY", "lots")], &none).unwrap_err().to_string();
    let expected = "environment variable MILLPOND_CAPACITY: key 'capacity': 'lots' is not a size";
    assert!(error.starts_with(expected), "{error}");
    let flags = ConfigOverrides { drain_seconds: Some("-1".to_owned()), ..none };
    let error = load(&[], &flags).unwrap_err().to_string();
    let expected = "flag --drain-seconds: key 'drain_seconds': \
                    '-1' is not a whole number from 0 to 3600";
    assert_eq!(error, expected);
    let odd = |_: &str| Some(OsStr::from_bytes(b"\xff").to_owned());
    let none = ConfigOverrides::default();
    let error = Config::load_from(Some(Path::new("/dev/null")), &odd, &none).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[test]
fn a_named_file_must_exist_and_others_need_not() {
    let home = tempfile::tempdir().unwrap();
    let variables = |name: &str| (name == "HOME").then(|| home.path().into());
    assert_ne!(Config::file(None, &variables), Some(home.path().join("config.toml")));
    let own = home.path().join(".config/millpond/config.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "driver = 'soft'").unwrap();
    assert_eq!(Config::file(None, &variables), Some(own));
    let none = ConfigOverrides::default();
    assert_eq!(Config::load_from(None, &variables, &none).unwrap().driver, "soft");

    let missing = |name: &str| (name == CONFIG_VARIABLE).then(|| "/nonexistent".into());
    let error = Config::load_from(None, &missing, &none).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the configuration file '/nonexistent'");
    assert!(error.hint().unwrap().contains(CONFIG_VARIABLE));
}

#[test]
fn settings_travel_as_json() {
    let config = Config {
        runtime_dir: Some("/run/x".into()),
        devices: vec![DeviceChoice::Index(2), DeviceChoice::Uuid(GpuUuid([3; 16]))],
        capacity_by_gpu: BTreeMap::from([(GpuUuid([1; 16]), Capacity::Bytes(5))]),
        ..Config::default()
    };
    assert_eq!(Config::from_json(&config.to_json().unwrap()).unwrap(), config);
    // An older keeper does not know a newer daemon's keys; their defaults are taken.
    assert_eq!(Config::from_json(b"{}").unwrap(), Config::default());
    assert!(Config::from_json(b"{\"colour\":1}").is_err());
    assert!(Config::from_json(b"{\"capacity_by_gpu\":{\"0\":\"1G\"}}").is_err());
}

proptest! {
    #[test]
    fn no_file_panics(source in "([a-z_.]{1,8} ?= ?[\\[\\]{}\"$a-z0-9.:]{0,12}\n){0,4}|\\PC{0,60}") {
        let _ = file::read(Path::new("x"), &source, &|_| None);
    }

    #[test]
    fn no_text_in_a_file_panics(text in "[${}:A-Z]{0,12}") {
        let _ = file::read(Path::new("x"), &format!("log = '{text}'"), &|_| None);
    }
}

#[test]
fn a_file_that_another_user_can_write_is_refused_however_it_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("millpond/config.toml");
    std::fs::create_dir(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "driver = '/tmp/evil.so'").unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let none = ConfigOverrides::default();
    let by_folder = |name: &str| (name == "XDG_CONFIG_HOME").then(|| home.path().into());
    let by_name = |name: &str| (name == CONFIG_VARIABLE).then(|| own.clone().into());
    let ways: [(Option<&Path>, Environment<'_>); 3] =
        [(None, &by_folder), (None, &by_name), (Some(&own), &|_| None)];
    for (path, bad, good) in [(&*own, 0o666, 0o644), (own.parent().unwrap(), 0o777, 0o755)] {
        for (named, environment) in ways {
            set(path, bad);
            let error = Config::load_from(named, environment, &none).unwrap_err();
            assert!(error.to_string().contains("not safe to read"), "{error}");
            let mend = format!("chmod o-w '{}'", path.display());
            assert!(error.hint().unwrap().contains(&mend), "{error}");
            set(path, good);
            assert!(Config::load_from(named, environment, &none).is_ok());
        }
    }
}
