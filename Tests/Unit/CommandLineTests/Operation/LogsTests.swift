@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Foundation
import Testing

@Suite("The joined logs of a cluster")
struct LogsTests {
    private static func line(_ service: String, _ second: Int, _ event: String, _ more: String = "") -> String {
        let time = "2031-03-04T10:00:\(second < 10 ? "0" : "")\(second).000Z"
        return #"{"time":"\#(time)","level":"info","service":"\#(service)","event":"\#(event)"\#(more)}"#
    }

    private static func write(_ lines: [String], to program: String, _ home: ClusterHome, end: String = "\n") throws {
        let file = home.logs.appendingPathComponent("\(program).log")
        if !FileManager.default.fileExists(atPath: file.path) { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((lines.joined(separator: "\n") + end).utf8))
        try handle.close()
    }

    private static func all(_ logs: JoinedLogs) -> [LogLine] {
        var lines: [LogLine] = []
        while let line = logs.next() { lines.append(line) }
        return lines
    }

    private static func names(_ lines: [LogLine]) -> [String] { lines.map { $0.event?.name ?? $0.text } }

    @Test("lines of several programs come in the order of their times, what is no event after the line before it")
    func joined() throws {
        try withHome { home in
            try Self.write([Self.line("config", 1, "a"), "Fatal error: no", Self.line("config", 5, "e")], to: "config", home)
            try Self.write([Self.line("gateway", 2, "b"), Self.line("gateway", 4, "d")], to: "gateway", home)
            try Self.write([Self.line("authentication", 3, "c")], to: "authentication-2", home)
            let lines = Self.all(JoinedLogs(folder: home.logs, selection: LogSelection()))
            #expect(Self.names(lines) == ["a", "Fatal error: no", "b", "c", "d", "e"])
            #expect(lines.map(\.program) == ["config", "config", "gateway", "authentication-2", "gateway", "config"])
        }
    }

    @Test("in a terminal of 80 columns no line is longer, and nothing is lost", arguments: [80, 60, 40])
    func narrow(_ columns: Int) {
        let trace = "ac2b7d5d84a5cae2b03eee4a80c4c08f"
        let text = Self.line("config", 1, "catalogue.pushed", #","trace_id":"\#(trace)","reason":"\#(String(repeating: "a word ", count: 30))end""#)
        let line = LogLine(program: "authentication-2", text: text, after: Timestamp(milliseconds: 0))
        let lines = line.lines(Console(isStyled: false), width: 16, columns: columns)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
        #expect(lines[0].hasPrefix("10:00:01.000  authentication-2") && line.day == "2031-03-04")
        let whole = lines.joined(separator: "").replacingOccurrences(of: " ", with: "")
        for part in ["catalogue.pushed", "trace_id=", "aword", "end"] { #expect(whole.contains(part), "\(part): \(lines)") }
        let styled = line.lines(Console(isStyled: true), width: 16, columns: columns)
        #expect(styled.count == lines.count && styled[0].contains("\u{1b}["))
        let other = LogLine(
            program: "config", text: "Fatal error: \u{1b}[31m" + String(repeating: "x", count: 200), after: Timestamp(milliseconds: 0))
        let broken = other.lines(Console(isStyled: false), width: 16, columns: columns)
        #expect(
            broken.allSatisfy { $0.count <= columns && !$0.contains("\u{1b}") } && broken[0].hasPrefix("              config  Fatal")
                && other.day == nil)
    }

    @Test("programs are chosen by name; a service's name means its copies too")
    func chosen() {
        #expect(LogSelection().includes(program: "config"))
        let selection = LogSelection(programs: ["authentication", "gateway"])
        #expect(["authentication", "authentication-2", "gateway"].allSatisfy(selection.includes(program:)))
        #expect(!["authorization", "authentication-x", "config"].contains(where: selection.includes(program:)))
        #expect(!LogSelection(programs: ["authentication-2"]).includes(program: "authentication"))
        #expect(["config", "authentication-2", "sandbox"].allSatisfy(LogsCommand.isProgram))
        #expect(!["", "gatway", "config-1", "config-9", "config-x", "postgres"].contains(where: LogsCommand.isProgram))
    }

    @Test("a request is found by its trace id, by the gateway's id of it, and by a traceparent")
    func trace() throws {
        let trace = "ac2b7d5d84a5cae2b03eee4a80c4c08f"
        let other = LogLine.Event(Self.line("config", 1, "x", #","trace_id":"bc2b7d5d84a5cae2b03eee4a80c4c08f""#))
        let own = LogLine.Event(Self.line("config", 1, "x", #","trace_id":"\#(trace)""#))
        let gateway = LogLine.Event(
            Self.line("gateway", 1, "request", #","request":"ac2b7d5d-84a5-4ae2-b03e-ee4a80c4c08f","trace_id":"11111111111111111111111111111111""#))
        for text in [trace, trace.uppercased(), "00-\(trace)-0102030405060708-01", "ac2b7d5d-84a5-4ae2-b03e-ee4a80c4c08f"] {
            let name = try #require(TraceName(argument: text))
            #expect(try name.names(#require(own)), "\(text)")
            #expect(try !name.names(#require(other)), "\(text)")
        }
        #expect(try TraceName(argument: "ac2b7d5d-84a5-4ae2-b03e-ee4a80c4c08f")?.names(#require(gateway)) == true)
        #expect(try TraceName(argument: trace)?.names(#require(gateway)) == false)
        for text in ["", "abc", trace + "0", "zc2b7d5d84a5cae2b03eee4a80c4c08f"] { #expect(TraceName(argument: text) == nil, "\(text)") }
    }

    @Test("a request whose trace somebody else began is found in all programs by the gateway's id of it")
    func learned() throws {
        try withHome { home in
            let (request, trace) = ("57dd3e7b-dddb-4055-b492-3abb35afb868", "4bf92f3577b34da6a3ce929d0e0e4736")
            try Self.write(
                [Self.line("authentication", 1, "a", #","trace_id":"\#(trace)""#), Self.line("authentication", 2, "b")], to: "authentication", home)
            try Self.write([Self.line("gateway", 3, "request", #","request":"\#(request)","trace_id":"\#(trace)""#)], to: "gateway", home)
            let name = LogsCommand.learned(TraceName(argument: request), home, since: nil)
            #expect(Self.names(Self.all(JoinedLogs(folder: home.logs, selection: LogSelection(trace: name)))) == ["a", "request"])
            let unknown = LogsCommand.learned(TraceName(argument: "57dd3e7b-dddb-4055-b492-000000000000"), home, since: nil)
            #expect(Self.all(JoinedLogs(folder: home.logs, selection: LogSelection(trace: unknown))).isEmpty)
        }
    }

    @Test("lines from before a moment are left out, without reading a long file from its beginning")
    func since() throws {
        try withHome { home in
            let lines = (0..<20_000).map { number in
                #"{"time":"2031-03-04T\#(10 + number / 3600):\#(Self.two(number / 60 % 60)):\#(Self.two(number % 60)).000Z","level":"info","event":"n\#(number)"}"#
            }
            try Self.write(lines, to: "config", home)
            let moment = try #require(Timestamp(logged: "2031-03-04T15:30:00Z".utf8))
            let file = LogFile(program: "config", path: home.log(of: .config).path)
            file.skip(before: moment)
            let first = try #require(file.next()?.place)
            #expect(first < moment && moment - first < .seconds(2000), "\(first)")
            let found = Self.all(JoinedLogs(folder: home.logs, selection: LogSelection(since: moment)))
            #expect(found.first?.event?.name == "n19800" && found.count == 200)
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    @Test("what is written later is read, over a truncation, another file in its place, and a new program")
    func followed() throws {
        try withHome { home in
            let file = home.log(of: .config)
            try Self.write([Self.line("config", 1, "a"), Self.line("config", 2, "b")], to: "config", home)
            let logs = JoinedLogs(folder: home.logs, selection: LogSelection())
            #expect(Self.names(Self.all(logs)) == ["a", "b"])
            #expect(logs.follow().isEmpty && Self.all(logs).isEmpty)

            try Self.write([#"{"time":"2031-03-04T10:00:03"#], to: "config", home, end: "")
            #expect(Self.all(logs).isEmpty, "a line without its end is not there yet")
            try Self.write([#".000Z","event":"c"}"#], to: "config", home)
            #expect(Self.names(Self.all(logs)) == ["c"])

            // As `copytruncate` does, with more in it than before.
            try FileHandle(forWritingTo: file).truncate(atOffset: 0)
            try Self.write((4..<14).map { Self.line("config", $0, "d\($0)") }, to: "config", home)
            #expect(logs.follow().isEmpty)
            #expect(Self.names(Self.all(logs)) == (4..<14).map { "d\($0)" })

            // Moved away, with a line that came since; another file in its place.
            try Self.write([Self.line("config", 14, "e")], to: "config", home)
            try Self.write(["the end"], to: "config", home, end: "")
            try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("1"))
            try Self.write([Self.line("config", 15, "f")], to: "config", home)
            #expect(Self.names(Self.all(logs)) == ["e"])
            #expect(Self.names(logs.follow()) == ["the end"])
            #expect(Self.names(Self.all(logs)) == ["f"])

            try Self.write([Self.line("gateway", 16, "g")], to: "gateway", home)
            #expect(logs.follow().isEmpty)
            #expect(Self.names(Self.all(logs)) == ["g"])
        }
    }

    private static func move(_ program: String, to stamp: String, _ home: ClusterHome) throws {
        let file = home.logs.appendingPathComponent("\(program).log")
        try FileManager.default.moveItem(at: file, to: file.appendingPathExtension(stamp))
    }

    @Test("former files of a log are read before the present one, also when that is missing; other files are not")
    func former() throws {
        try withHome { home in
            for (number, stamp) in ["20310304T100002000Z", "20310304T100004000Z"].enumerated() {
                let lines = [Self.line("config", 2 * number, "a\(number)"), "the end of \(number)"]
                try Self.write(lines, to: "config", home, end: number == 0 ? "\n" : "")
                try Self.move("config", to: stamp, home)
            }
            try Self.write([Self.line("config", 9, "not a log")], to: "config", home)
            try Self.move("config", to: "1", home)
            let all = { Self.names(Self.all(JoinedLogs(folder: home.logs, selection: LogSelection()))) }
            #expect(all() == ["a0", "the end of 0", "a1", "the end of 1"])
            try Self.write([Self.line("config", 5, "b")], to: "config", home)
            try Self.write([Self.line("gateway", 1, "g")], to: "gateway", home)
            #expect(all() == ["a0", "the end of 0", "g", "a1", "the end of 1", "b"])
            #expect(JoinedLogs.programs(in: home.logs) == ["config", "gateway"])

            for (stamp, seconds) in [("20310304T100002000Z", 802), ("20310304T100004000Z", 860)] {
                let file = home.log(of: .config).appendingPathExtension(stamp).path
                let moment = Date(timeIntervalSince1970: 1_930_384_000 + Double(seconds))
                try FileManager.default.setAttributes([.modificationDate: moment], ofItemAtPath: file)
            }
            let file = LogFile(program: "config", path: home.log(of: .config).path)
            file.skip(before: Timestamp(seconds: 1_930_384_804 + 60))
            #expect(file.next()?.event?.name == "a1")
        }
    }

    @Test("each line is followed over any number of rotations, once")
    func followedOverRotations() throws {
        try withHome { home in
            try Self.write([Self.line("config", 0, "n0")], to: "config", home)
            try Self.move("config", to: "20310304T095959000Z", home)
            try Self.write([Self.line("config", 1, "n1")], to: "config", home)
            let logs = JoinedLogs(folder: home.logs, selection: LogSelection())
            func take() -> [String] {
                var names: [String] = []
                for _ in 0..<10 { names += Self.names(Self.all(logs)) + Self.names(logs.follow()) }
                return names
            }
            #expect(take() == ["n0", "n1"])
            // More came to the file after it was read, and then whole files came and went.
            try Self.write([Self.line("config", 2, "n2")], to: "config", home)
            for number in 3..<6 {
                try Self.move("config", to: "20310304T10000\(number)000Z", home)
                try Self.write([Self.line("config", number, "n\(number)")], to: "config", home)
            }
            #expect(take() == ["n2", "n3", "n4", "n5"])
            // The one that was read is gone already.
            try Self.move("config", to: "20310304T100006000Z", home)
            try Self.write([Self.line("config", 6, "n6")], to: "config", home)
            try Self.move("config", to: "20310304T100007000Z", home)
            try FileManager.default.removeItem(at: home.log(of: .config).appendingPathExtension("20310304T100006000Z"))
            #expect(take().isEmpty, "for a moment there is no present file")
            try Self.write([Self.line("config", 7, "n7")], to: "config", home)
            #expect(take() == ["n6", "n7"])
        }
    }

    @Test("a person reads time, program, level, event and fields; control characters do not reach the terminal")
    func text() throws {
        let console = Console(isStyled: false)
        let line = LogLine(
            program: "config", text: Self.line("config", 1, "request", #","status":200,"route":"/a b","who":"\u001b[2J","empty":"","list":["x"]"#),
            after: Timestamp(milliseconds: 0))
        #expect(
            line.text(console, width: 7)
                == #"2031-03-04 10:00:01.000  config   info      request  status=200 route="/a b" who="\u{1b}[2J" empty="" list="[\"x\"]""#)
        let other = LogLine(program: "config", text: "Fatal error: \u{1b}[31m\u{202e}x", after: line.place)
        #expect(other.text(console, width: 6) == String(repeating: " ", count: 23) + "  config  Fatal error: \\u{1b}[31m\\u{202e}x")
        #expect(other.place == line.place)
    }

    @Test("a program reads the line as it was written, with the program's name")
    func json() throws {
        let text = Self.line("authentication", 1, "x", #","n":1.50"#)
        let line = LogLine(program: "authentication-2", text: text, after: Timestamp(milliseconds: 0))
        #expect(line.json == #"{"program":"authentication-2","# + text.dropFirst())
        #expect(LogLine(program: "config", text: "{}", after: line.place).json == #"{"program":"config"}"#)
        #expect(LogLine(program: "config", text: "say \"no\"", after: line.place).json == #"{"program":"config","line":"say \"no\""}"#)
        for text in ["[1]", "1", "{\"a\"", ""] { #expect(LogLine(program: "config", text: text, after: line.place).event == nil, "\(text)") }
    }

    @Test(
        "times of lines",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.5Z", 500), ("2031-03-04T10:00:01.234Z", 1_930_384_801_234),
            ("2031-03-04T10:00:01.2345678Z", 1_930_384_801_234),
        ] as [(String, Int64)])
    func times(text: String, milliseconds: Int64) { #expect(Timestamp(logged: text.utf8)?.milliseconds == milliseconds) }

    @Test(
        "what is no time",
        arguments: [
            "", "2031-03-04", "2031-13-04T10:00:01Z", "2031-03-04T24:00:01Z", "2031-03-04T10:00:01", "2031-03-04T10:00:01.Z", "x031-03-04T10:00:01Z",
        ])
    func noTimes(text: String) { #expect(Timestamp(logged: text.utf8) == nil) }

    @Test("a start is a span or a moment")
    func starts() throws {
        let now = Timestamp(seconds: 1_000_000)
        #expect(try #require(LogStart(argument: "5m")).moment(now: now) == now - .seconds(300))
        #expect(try #require(LogStart(argument: "2h")).moment(now: now) == now - .seconds(7200))
        #expect(try #require(LogStart(argument: "1970-01-01T00:00:07Z")).moment(now: now) == Timestamp(seconds: 7))
        #expect(LogStart(argument: "yesterday") == nil)
    }
}
