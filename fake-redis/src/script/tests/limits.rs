use super::eval;
use crate::testing::Bench;

#[track_caller]
fn check_contains(script: &str, expected: &str) {
    let answer = eval(&mut Bench::new(), script);
    let shown: String = answer.chars().take(300).collect();
    assert!(answer.contains(expected), "{script}\n{shown}");
    assert_eq!(eval(&mut Bench::new(), "return 'alive'"), "$5|alive", "after {script}");
}

#[test]
fn unpacking_more_than_a_stack_holds_is_an_error_and_not_the_end_of_the_server() {
    let too_many = "too many results to unpack";
    for range in [
        "-2, 2147483647", "0, 2147483647", "-2147483648, 2147483647", "1, 8001", "1, '8001'",
        "-2147483648, 0", "1, 1e9", "-1e9, 0/0", "'0', '0x7fffffff'",
    ] {
        check_contains(&format!("return {{unpack({{1, 2, 3}}, {range})}}"), too_many);
        check_contains(&format!("return #{{unpack({{}}, {range})}}"), too_many);
    }
    for range in ["2147483648, 2147483647", "1e300, 3", "0/0, -1", "5, 4", "-1e300, 2147483647"] {
        let answer = eval(&mut Bench::new(), &format!("return #{{unpack({{1, 2, 3}}, {range})}}"));
        assert!(answer.contains(too_many) || answer.starts_with(':'), "{range}: {answer}");
    }
}

#[test]
fn patterns_end_and_fit_the_stack() {
    let complex = "pattern too complex";
    for pattern in [
        "string.rep('a?', 300000) .. 'b'",
        "string.rep('a*', 300000)",
        "string.rep('a-', 300000) .. 'b'",
        "string.rep('(a', 31) .. string.rep('a?', 300000)",
    ] {
        check_contains(&format!("return string.find(string.rep('a', 300000), {pattern})"), complex);
        check_contains(
            &format!("return string.gsub(string.rep('a', 300000), {pattern}, '')"),
            complex,
        );
        check_contains(
            &format!("return string.gmatch(string.rep('a', 300000), {pattern})()"),
            complex,
        );
    }
    let endless = "stopped by fake-redis";
    check_contains("return string.find(string.rep('a', 60), string.rep('a*', 30) .. 'b')", endless);
    check_contains("return string.find(string.rep('a', 40), string.rep('a?', 40) .. 'b')", endless);
    check_contains(
        "return string.gsub(string.rep('a', 60), string.rep('.-', 30) .. 'b', '')",
        endless,
    );
    check_contains(
        "string.match(string.rep('a', 1e7), '%b()' .. string.rep('.-', 9) .. 'b')",
        endless,
    );
    let set = "string.find(string.rep('a', 1e4), '[' .. string.rep('b', 1e4) .. ']')";
    check_contains(set, endless);
}

#[test]
fn functions_of_c_that_take_long_count_as_much_as_loops() {
    for script in [
        "table.insert({}, -2147483648, 1)",
        "string.rep('', 2147483647)",
        "local t = {} for i = 1, 5e5 do t[i] = i end while true do table.insert(t, 1, 1) end",
        "local s = string.rep('a', 1e6) while true do local x = s:upper() end",
        "local s = string.rep('1', 1e6) while true do tonumber(s) end",
        "local s = string.rep('a', 1e6) local x = string.rep('a', 5e5) .. 'b' while true do \
         s:find(x, 1, true) end",
        "local t = {} for i = 1, 5e5 do t[i] = i end for i = 1, 5e5 do t[i] = nil end while true \
         do next(t) end",
        "local s = string.rep(' ', 1e6) while true do loadstring(s) end",
        "local t = {} for i = 1, 7000 do t[i] = i end while true do local x = {unpack(t)} end",
        "while true do coroutine.wrap(function() for i = 1, 90000 do end end)() end",
        "local s = '[' .. string.rep('1,', 1e5) .. '1]' while true do cjson.decode(s) end",
        "local t = cjson.decode('[' .. string.rep('1,', 1e5) .. '1]') while true do \
         cjson.encode(t) cmsgpack.pack(t) end",
        "local s = string.rep('x', 1e6) while true do redis.sha1hex(s) end",
        "local t = {} for i = 1, 1e5 do t[i] = i % 2 end while true do table.sort(t) end",
    ] {
        check_contains(script, "stopped by fake-redis");
    }
}

#[test]
fn a_script_that_needs_more_memory_than_it_may_have_ends_with_an_error() {
    for script in [
        "return #string.rep('x', 2147483647)",
        "return #string.rep(string.rep('x', 1e6), 1e6)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local t, s = {}, string.rep('x', 1e5) while true do t[#t + 1] = s .. #t end",
        "local t, s = {}, string.rep('x', 1e5) for i = 1, 1000 do t[i] = s end return \
         table.concat(t)",
        "local s = string.rep('x', 1e6) return string.gsub(s, '.', s)",
        "local s = string.rep('x', 1e6) return string.gsub(s, '.*', string.rep('%0', 1e6))",
        "local s = string.rep('x', 1e6) return string.format(string.rep('%s', 200), \
         unpack((function() local t = {} for i = 1, 200 do t[i] = s end return t end)()))",
        "local t = {} for i = 1, 60 do t = {t, t} end return cjson.encode(t)",
        "local t = {} for i = 1, 15 do local u = {} for j = 1, 100 do u[j] = t end t = u end \
         return cmsgpack.pack(t)",
        "cjson.encode_sparse_array(false, 0) return cjson.encode({[9007199254740992] = 1})",
        "return cjson.decode('[' .. string.rep('[],', 6e5) .. '1]')",
        "return cmsgpack.unpack('\\221\\0\\8\\0\\0' .. string.rep('\\128', 524288))",
        "local t = {} while true do t[#t + 1] = coroutine.wrap(function() coroutine.yield() end) \
         t[#t]() end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = {#t} end end) end",
    ] {
        check_contains(script, "stopped by fake-redis");
    }
    for script in [
        "return #string.rep('x', 2147483647)",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = {#t} end end) end",
    ] {
        check_contains(script, "needs more memory than it may have");
    }
    let garbage = "local n, s = 0, string.rep('x', 1e6) for i = 1, 40 do n = n + #(s .. i) end \
                   return n";
    check_contains(garbage, ":40000071");
    let mut tree = Bench::new();
    let answer = eval(&mut tree, "local t = {'x'} for i = 1, 60 do t = {t, t} end return t");
    assert_eq!(
        answer,
        "-ERR Error running script: runtime error: the result of the script is too large"
    );
    assert_eq!(tree.run("PING"), "+PONG", "nothing of the result was sent");
}

#[test]
fn text_of_a_script_is_parsed_whatever_it_is() {
    for (script, expected) in [
        ("return loadstring(string.rep('(', 100000))", "$-1"),
        ("return loadstring('return ' .. string.rep('{', 100000))", "$-1"),
        ("return loadstring(string.rep('do ', 100000))", "$-1"),
        ("return loadstring('return ' .. string.rep('-', 100000) .. '1')", "$-1"),
        ("return loadstring('x = ' .. string.rep('a..', 100000) .. 'a')", "$-1"),
        ("return loadstring('[' .. string.rep('=', 1000000))", "$-1"),
        ("return type(loadstring('--[' .. string.rep('=', 1000000) .. '[ x'))", "$3|nil"),
        (
            "return loadstring('return [' .. string.rep('=', 70000) .. '[text]' .. string.rep('=', \
          70000) .. ']')()",
            "$4|text",
        ),
        ("return loadstring(string.dump(function() end))", "$-1"),
        ("return loadstring('\\27Lua')", "$-1"),
    ] {
        assert_eq!(eval(&mut Bench::new(), script), expected, "{script}");
    }
    // As in CVE-2025-49844, only the parser refers to the chunk's name during garbage collection.
    let name = "local n = 0 for i = 1, 2000 do local text = 'local a' .. i .. ' = ' .. \
                string.rep('{', 90) .. string.rep('}', 90) .. ' error(' .. i .. ')' local _, e = \
                pcall(assert(loadstring(text, '@' .. string.rep('n', 40) .. i))) n = n + \
                (e:find('^nnnn') and 1 or 0) end return n";
    assert_eq!(eval(&mut Bench::new(), name), ":2000");
}

#[test]
fn functions_that_call_each_other_through_c_fit_the_stack() {
    for body in [
        "string.gsub('a', 'a', function() return f() end)",
        "table.sort({1, 2, 3}, function() return f() end)",
        "pcall(f)",
        "xpcall(f, f)",
        "coroutine.wrap(f)()",
        "load(f)",
        "table.foreach({1}, f)",
        "setmetatable({}, {__index = f}).x = nil return setmetatable({}, {__index = f}).x",
        "return tostring(setmetatable({}, {__tostring = f}))",
        "loadstring('return ' .. string.rep('(', 150) .. '1' .. string.rep(')', 150)) pcall(f)",
    ] {
        // A stack overflow is an error that the script may catch.
        let script = format!("local f f = function() {body} end f() return 'ended'");
        let answer = eval(&mut Bench::new(), &script);
        assert!(answer == "$5|ended" || answer.starts_with('-'), "{script}: {answer}");
        assert_eq!(eval(&mut Bench::new(), "return 'alive'"), "$5|alive", "after {script}");
    }
}
