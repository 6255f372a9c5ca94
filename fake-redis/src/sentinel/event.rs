use fencepost_machine::Notice;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) channel: &'static str,
    pub(crate) message: String,
}

impl Event {
    pub(crate) fn notice(&self) -> Option<Notice> {
        let words: Vec<&str> = self.message.split(' ').collect();
        let down = |objectively, is_down| match words.as_slice() {
            ["master", _, host, _, ..] => {
                Some(Notice::Down { host: (*host).to_owned(), objectively, is_down })
            }
            _ => None,
        };
        match self.channel {
            "+sdown" => down(false, true),
            "-sdown" => down(false, false),
            "+odown" => down(true, true),
            "-odown" => down(true, false),
            "+switch-master" => words.get(3).map(|host| Notice::Names { host: (*host).to_owned() }),
            _ => None,
        }
    }
}
