import Foundation
import Testing

@testable import ServiceKit

@Suite("Settings")
struct SettingsTests {
    private struct Own: Decodable, Sendable {
        let key: String
        let patience: Int?
    }

    private static let good = """
        {
          "listen": {"address": "127.0.0.1", "port": 7002}, "debug": {"address": "127.0.0.1", "port": 9002},
          "tls": {"certificate": "pki/a.crt", "key": "pki/a.key", "trustAnchors": "pki/ca.crt"},
          "allow": {"some.Service": ["gateway.boxoffice"]},
          "peers": {"config": {"addresses": ["127.0.0.1:7001", "[::1]:7001"], "name": "config.boxoffice"}},
          "data": "data", "log": {"level": "debug"}, "limits": {"connections": 10},
          "own": {"key": "k"}
        }
        """

    private func read(_ text: String) throws -> SettingsDocument<Own> {
        let folder = try Folder()
        try folder.write(text, to: "config.json")
        return try SettingsReader.read(Own.self, section: "own", file: folder.path + "/config.json")
    }

    @Test("a good file is read; paths are relative to it")
    func readsGoodFile() throws {
        let document = try read(Self.good)
        #expect(document.common.listen?.port == 7002)
        #expect(document.common.log.level == .debug)
        #expect(document.common.limits.connections == 10)
        #expect(document.common.peers["config"]?.addresses.count == 2)
        #expect(document.specific.key == "k")
        #expect(document.common.dataCenter == "local")
        #expect(try read(Self.good.replacingOccurrences(of: "\"data\": \"data\"", with: "\"dataCenter\": \"west\"")).common.dataCenter == "west")
        #expect(document.common.zone == nil && document.common.limits.stopDelaySeconds == nil && document.common.tls?.refused == [])
        let files = SettingsFiles(settingsFile: "/etc/boxoffice/config.json")
        #expect(files.path("pki/a.crt") == "/etc/boxoffice/pki/a.crt")
        #expect(files.path("/var/a.crt") == "/var/a.crt")
        #expect(files.path("../a.crt") == "/etc/a.crt")
    }

    @Test("a debug listener on every interface, and a stop that lasts longer than the guides' supervisors wait, are doubtful")
    func hasDoubts() throws {
        #expect(try read(Self.good).common.doubts().isEmpty)
        let open = Self.good.replacingOccurrences(of: #""debug": {"address": "127.0.0.1""#, with: #""debug": {"address": "0.0.0.0""#)
        #expect(try read(open).common.doubts().map { $0.prefix(21) } == ["debug.address 0.0.0.0"])
        func doubts(_ limits: String, draining connections: Int? = nil) throws -> [String] {
            try read(Self.good.replacingOccurrences(of: #""connections": 10"#, with: limits)).common.doubts(draining: connections)
        }
        #expect(try doubts(#""stopDelaySeconds": 10"#).isEmpty, "10 and 10 and 5")
        #expect(try doubts(#""stopDelaySeconds": 5, "drainSeconds": 15"#, draining: 15).isEmpty, "they end side by side")
        let slow = try doubts(#""stopDelaySeconds": 5, "drainSeconds": 10"#, draining: 16)
        let start = "limits.stopDelaySeconds 5, limits.drainSeconds 10, gateway.connections.drainSeconds 16: a stop may last 26 s"
        #expect(slow.count == 1 && slow[0].hasPrefix(start), "\(slow)")
        #expect(try doubts(#""stopDelaySeconds": 11"#).first?.contains("gateway") == false)
    }

    @Test("what is kept of a log has defaults, and bounds")
    func readsLogRetention() throws {
        #expect(try read(Self.good).common.log.retention == LogRetention(fileBytes: 64 << 20, days: 14, allBytes: 1 << 30))
        let text = Self.good.replacingOccurrences(of: #""level": "debug""#, with: #""fileMebibytes": 1, "days": 2, "allMebibytes": 16"#)
        let log = try read(text).common.log
        #expect(log.retention == LogRetention(fileBytes: 1 << 20, days: 2, allBytes: 16 << 20) && log.level == .info)
    }

    @Test("zone, stop delay, names with SRV records and certificates that were taken back are read")
    func readsWhatManyHostsNeed() throws {
        let digest = String(repeating: "0A", count: 32)
        let text = Self.good
            .replacingOccurrences(of: #""data": "data""#, with: #""zone": "west-1""#)
            .replacingOccurrences(of: #""connections": 10"#, with: #""stopDelaySeconds": 15"#)
            .replacingOccurrences(of: #""[::1]:7001""#, with: #""srv:_config._tcp.example", "srv:7001""#)
            .replacingOccurrences(of: #""trustAnchors": "pki/ca.crt""#, with: #""trustAnchors": "pki/ca.crt", "refused": ["\#(digest)"]"#)
        let common = try read(text).common
        #expect(common.zone == "west-1" && common.limits.stopDelaySeconds == 15)
        #expect(common.peers["config"]?.serviceNames == ["_config._tcp.example"])
        #expect(common.tls?.refusedDigests.count == 1)
        let colons = Array(repeating: "0a", count: 32).joined(separator: ":")
        let again = try read(text.replacingOccurrences(of: digest, with: colons)).common
        #expect(again.tls?.refusedDigests == common.tls?.refusedDigests)
    }

    @Test(
        "one line names the file, the key and what must be",
        arguments: [
            (#""own": {"key": "k"}"#, #""own": {"key": "k", "colour": 1}"#, "own.colour", "not known here; known are key, patience"),
            (#""own": {"key": "k"}"#, #""own": {"patience": 1}"#, "own.key", "is missing"),
            (#""own": {"key": "k"}"#, #""owm": {"key": "k"}"#, "own", "is missing"),
            (#""data": "data""#, #""dta": "data""#, "dta", "not known here"),
            (#""data": "data""#, #""dataCenter": """#, "dataCenter", "1 to 128 octets"),
            (#""data": "data""#, #""zone": """#, "zone", "1 to 128 octets"),
            (#""connections": 10"#, #""stopDelaySeconds": 301"#, "limits.stopDelaySeconds", "from 0 to 300; it is 301"),
            (#""127.0.0.1:7001""#, #""srv:config""#, "peers.config.addresses", "srv:_config._tcp.example; one is 'srv:config'"),
            (#""127.0.0.1:7001""#, #""srv:_config._tcp.exa mple""#, "peers.config.addresses", "host:port"),
            (
                #""trustAnchors": "pki/ca.crt""#, #""trustAnchors": "pki/ca.crt", "refused": ["00"]"#, "tls.refused",
                "64 hex digits; one is '00'"
            ),
            (#""port": 7002"#, #""port": 70000"#, "listen.port", "0 to 65535; it is 70000"),
            (#""port": 7002"#, #""port": 9002"#, "debug", "must differ from 'listen'"),
            (#""connections": 10"#, #""connections": 0"#, "limits.connections", "from 1 to 100000; it is 0"),
            (#""level": "debug""#, #""level": "loud""#, "log.level", "must be one of trace, debug"),
            (#""level": "debug""#, #""fileMebibytes": 0"#, "log.fileMebibytes", "from 1 to 4096; it is 0"),
            (#""level": "debug""#, #""days": 3651"#, "log.days", "from 1 to 3650; it is 3651"),
            (#""level": "debug""#, #""allMebibytes": 15"#, "log.allMebibytes", "from 16 to 1048576; it is 15"),
            (#""127.0.0.1:7001""#, #""127.0.0.1""#, "peers.config.addresses", "host:port"),
            (#"["127.0.0.1:7001", "[::1]:7001"]"#, "[]", "peers.config.addresses", "at least one"),
            (
                #""tls": {"certificate": "pki/a.crt", "key": "pki/a.key", "trustAnchors": "pki/ca.crt"},"#, "", "tls",
                "is missing; 'listen' and 'peers' need it"
            ),
            (#""listen": {"address": "127.0.0.1", "port": 7002}, "#, "", "allow", "without 'listen'"),
        ])
    func namesProblem(part: String, other: String, key: String, words: String) throws {
        precondition(Self.good.contains(part), "the settings have no '\(part)'")
        let failure = #expect(throws: StartFailure.self) { try read(Self.good.replacingOccurrences(of: part, with: other)) }
        #expect(failure?.lines.count == 1)
        #expect(failure?.lines.first?.contains("/config.json: \(key) ") == true)
        #expect(failure?.lines.first?.contains(words) == true)
    }

    @Test("a syntax error has its place, a missing file its name")
    func unreadableFile() throws {
        let syntax = #expect(throws: StartFailure.self) { try read("{\n  \"listen\": }") }
        #expect(syntax?.lines.first?.contains("config.json: line 2, column 13: ") == true)
        let missing = #expect(throws: StartFailure.self) { try SettingsReader.read(Own.self, section: "own", file: "/nowhere/x.json") }
        #expect(missing?.lines == ["the settings file /nowhere/x.json does not exist; give another with --config"])
    }

    @Test("a service without settings of its own needs no object, and an object for it is unknown")
    func noSettings() throws {
        let folder = try Folder()
        try folder.write(#"{"debug": {"address": "127.0.0.1", "port": 0}}"#, to: "config.json")
        _ = try SettingsReader.read(NoSettings.self, section: "own", file: folder.path + "/config.json")
        try folder.write(#"{"debug": {"address": "127.0.0.1", "port": 0}, "own": {}}"#, to: "config.json")
        #expect(throws: StartFailure.self) { try SettingsReader.read(NoSettings.self, section: "own", file: folder.path + "/config.json") }
    }

    @Test("a file that a key names is reported with settings file, key and path")
    func unreadableReference() throws {
        let folder = try Folder()
        let files = SettingsFiles(settingsFile: folder.path + "/config.json")
        let failure = #expect(throws: StartFailure.self) { try files.text("absent.key", key: "own.key") }
        let start = "\(folder.path)/config.json: own.key names the file \(folder.path)/absent.key, which does not exist"
        #expect(failure?.lines.first?.hasPrefix(start) == true)
    }

    @Test(
        "the command line is --config FILE and --check-config",
        arguments: [
            (["--config", "a.json"], "a.json", false), (["--check-config", "--config=b.json"], "b.json", true),
        ])
    func commandLine(arguments: [String], file: String, checksOnly: Bool) throws {
        let options = try CommandLineOptions(arguments, program: "test")
        #expect(options.settingsFile == file)
        #expect(options.checksOnly == checksOnly && !options.describesStore)
        #expect(try CommandLineOptions(arguments + ["--describe-store"], program: "test").describesStore)
    }

    @Test("anything else on the command line is refused with the usage", arguments: [[], ["--config"], ["--conf", "x"], ["x"], ["--config="]])
    func wrongCommandLine(arguments: [String]) {
        let failure = #expect(throws: StartFailure.self) { try CommandLineOptions(arguments, program: "test") }
        #expect(failure?.lines.first?.contains("usage: test --config FILE [--check-config | --describe-store]") == true)
    }
}
