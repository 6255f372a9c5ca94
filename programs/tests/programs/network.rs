use crate::alone::{launch, run_alone};
use crate::python;
use std::process::Command;

#[test]
fn datagrams_go_to_oneself_and_to_the_resolver() {
    let script = "from socket import *\n\
                  def ask(name, kind):\n \
                  labels = b''.join(bytes([len(x)]) + x.encode() for x in name.split('.'))\n \
                  one = socket(AF_INET, SOCK_DGRAM); one.settimeout(2)\n \
                  head = bytes([7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])\n \
                  question = head + labels + bytes([0, 0, kind, 0, 1])\n \
                  one.sendto(question, ('10.0.255.53', 53))\n \
                  answer, sender = one.recvfrom(512)\n \
                  return answer[:4].hex(), answer[len(question) + 12:].hex(), sender\n\
                  one, other = socket(AF_INET, SOCK_DGRAM), socket(AF_INET, SOCK_DGRAM)\n\
                  one.bind(('127.0.0.1', 5000)); other.connect(('127.0.0.1', 5000))\n\
                  other.send(b'hello'); other.send(b'again')\n\
                  print(one.recvfrom(3)[0], one.recvfrom(9)[1] == other.getsockname())\n\
                  one.settimeout(0.5)\n\
                  try: one.recv(9)\n\
                  except TimeoutError: print('nothing')\n\
                  other.connect(('10.0.0.2', 7)); other.send(b'x')\n\
                  try: other.recv(9)\n\
                  except ConnectionRefusedError: print('refused')\n\
                  print(ask('Nobody', 1), ask('no.such', 1), ask('nobody', 28))\n\
                  print(open('/etc/resolv.conf').read(), end='')";
    let Some(run) = python("datagrams-9731", script) else { return };
    let resolver = "('10.0.255.53', 53)";
    let said = format!(
        "b'hel' True\nnothing\nrefused\n('07098180', '0a000002', {resolver}) \
         ('07098183', '', {resolver}) ('07098180', '', {resolver})\nnameserver 10.0.255.53\n"
    );
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
    assert_eq!(run.elapsed_us / 100_000, 5, "{}", run.elapsed_us);
}

#[test]
fn a_program_sees_two_interfaces_of_its_machine() {
    let script = "from socket import *\nimport fcntl, struct\n\
                  one = socket(AF_INET, SOCK_DGRAM)\n\
                  def ask(question, name='eth0'):\n \
                  return fcntl.ioctl(one, question, struct.pack('40s', name.encode()))[16:24].hex()\n\
                  print(if_nameindex(), ask(0x8915), ask(0x8927), ask(0x8913, 'lo'))\n\
                  try: ask(0x8915, 'wlan0')\n\
                  except OSError as error: print(error.errno)";
    let Some(run) = python("interfaces-9731", script) else { return };
    let said = "[(1, 'lo'), (2, 'eth0')] 020000000a000001 010002420a000001 4900000000000000\n19\n";
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: no node");
        return;
    }
    let script = "for (const [name, all] of Object.entries(os.networkInterfaces())) \
                  console.log(name, all.map(one => [one.cidr, one.mac, one.internal].join()).join())";
    let run = run_alone(&launch(&["node", "-e", script]));
    let said = "lo 127.0.0.1/8,00:00:00:00:00:00,true\neth0 10.0.0.1/16,02:42:0a:00:00:01,false\n";
    assert_eq!(run.stdout, said, "{:?} {}", run.ending, run.stderr);
}
