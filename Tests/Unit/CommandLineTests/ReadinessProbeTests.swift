@testable import ClusterCommands
internal import Testing

@Suite struct ReadinessProbeTests {
    /// `up` would wait for ever for a program that does, and tell at the end that it is not ready.
    @Test func aProgramThatWaitsForItsStoreIsToldByWhatItSays() {
        let line = "storage: waiting: takes no writes (127.0.0.1:5432: it is a standby); name the primary in storage.hosts"
        for text in [line + "\n", "catalogue: no version received from config yet\n\(line)\n"] {
            #expect(ReadinessProbe.failure(of: "config", saying: text, after: .seconds(20))?.description == "config: \(line)")
            #expect(ReadinessProbe.failure(of: "config", saying: text, after: .seconds(19)) == nil, "a server may be on its way")
        }
        for text in ["", "start: is under way\n", "storage: PostgreSQL: the server did not answer\n"] {
            #expect(ReadinessProbe.failure(of: "config", saying: text, after: .seconds(59)) == nil, "\(text)")
        }
    }
}
