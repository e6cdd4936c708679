import Faults
import Testing
import Frames

/// WIRE.md agrees with the code.
@Suite struct WireDocumentTests {
    private let document: String

    init() throws {
        document = try TextFile.read("../../../Shared/Documents/Wire.md")
    }

    @Test(arguments: GoldenFrames.names) func showsEachGoldenFrame(_ name: String) throws {
        let rows = try TextFile.read("Golden/\(name).hex").split(separator: "\n").map { "    " + $0 }
        #expect(document.contains(rows.joined(separator: "\n")))
    }

    @Test func explainsEachFaultCodeOfTheWire() throws {
        let codes = try codesOfTheWire()
        #expect(codes.count >= 10)
        for code in codes {
            let row = try #require(
                document.split(separator: "\n").first { $0.hasPrefix("| `\(code.rawValue)` |") && $0.filter { $0 == "|" }.count == 5 })
            let retryable = row.split(separator: "|")[2].trimmingPrefix { $0 == " " }
            #expect(retryable.hasPrefix("yes") == code.isRetryable, "\(code)")
        }
    }

    @Test("a code that a service may answer with is in the document")
    func namesEachFaultCode() throws {
        let source = try TextFile.read("../../../Shared/Language/Faults/Fault+Code.swift")
        let codes = source.matches(of: /case `?\w+`? = "([a-z0-9_]+)"/).map { String($0.output.1) }
        #expect(codes.count >= 100)
        #expect(codes.filter { !document.contains("`\($0)`") } == [])
    }

    @Test(arguments: GoAwayCode.allCases) func explainsEachGoAwayCode(_ code: GoAwayCode) {
        #expect(document.split(separator: "\n").contains { $0.hasPrefix("| `\(code.rawValue)` |") && $0.filter { $0 == "|" }.count == 4 })
    }

    @Test func namesTheDefaultsOfAConnection() {
        let settings = ConnectionSettings(software: "", softwareVersion: "")
        #expect(document.contains("(default \(settings.maxFrameBytes))"))
        #expect(document.contains("(default \(settings.maxCallsInFlight))"))
        #expect(document.contains("the hello \(settings.helloTimeout.components.seconds) s (default)"))
        #expect(document.contains("(default \((settings.idleTimeout?.components.seconds ?? 0) * 1000); 0: never"))
        #expect(document.contains("silent for \(settings.pingInterval?.components.seconds ?? 0) s (default)"))
        #expect(document.contains("nothing at all for \(settings.pingTimeout.components.seconds) s"))
        #expect(document.contains("finishes its calls within \(settings.drainTimeout.components.seconds) s (default)"))
        #expect(document.contains("lets the caller close, for \(settings.lingerTimeout.components.seconds) s"))
        #expect(document.contains("`max_frame_bytes` | largest N that the sender accepts: \(ConnectionStateMachine.smallestMaxFrameBytes) or more"))
        #expect(document.contains("| `protocol_version` | \(ConnectionStateMachine.protocolVersion). "))
    }

    /// The codes under the mark of the wire in the sources of Faults, so that a new one cannot be forgotten here.
    private func codesOfTheWire() throws -> [Fault.Code] {
        let source = try TextFile.read("../../../Shared/Language/Faults/Fault+Code.swift")
        let lines = source.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        let section = lines.drop { $0 != "// MARK: The wire and the machine" }.dropFirst().prefix { !$0.hasPrefix("// MARK") }
        let names = section.compactMap { $0.firstMatch(of: /= Fault\.Code\(\.(\w+)\)/).map { String($0.1) } }
        return try names.map { name in
            let row = try #require(lines.first { $0.contains("case \(name) = ") || $0.contains("case `\(name)` = ") })
            return Fault.Code(rawValue: String(row.split(separator: "\"")[1]))
        }
    }
}
