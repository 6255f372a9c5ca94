use super::exhibit::Exhibit;
use super::{
    chubby, etcd, gemfire, memcached, mysql, postgresql, protocols, redis, steps, zookeeper,
};

pub fn all() -> Vec<&'static Exhibit> {
    let tables = [
        redis::EXHIBITS,
        protocols::EXHIBITS,
        steps::EXHIBITS,
        memcached::EXHIBITS,
        zookeeper::EXHIBITS,
        postgresql::EXHIBITS,
        mysql::EXHIBITS,
        etcd::EXHIBITS,
        chubby::EXHIBITS,
        gemfire::EXHIBITS,
    ];
    tables.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_can_be_files() {
        let exhibits = all();
        for (place, exhibit) in exhibits.iter().enumerate() {
            assert!(
                exhibit.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'),
                "{}",
                exhibit.name
            );
            assert!(
                exhibits[..place].iter().all(|other| other.name != exhibit.name),
                "{} is there twice",
                exhibit.name
            );
            assert!(exhibit.question.ends_with('?'), "{}", exhibit.name);
        }
    }
}
