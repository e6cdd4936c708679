import ContractRuntime
import Testing

@testable import Frames

@Suite struct TraceTextTests {
    @Test(
        "reads what the string form reads, and refuses what it refuses",
        arguments: [
            "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x", "00-0000000000000000a3ce929d0e0e4736-00f067aa0ba902b7-ff",
        ])
    func agreesWithTheStringForm(_ text: String) {
        let fast = Array(text.utf8).withUnsafeBytes { TraceContext(traceparent: $0, state: "s=1") }
        #expect(fast == TraceContext(traceparent: text, state: "s=1"))
    }

    @Test func writesWhatTheStringFormWrites() {
        for _ in 0..<100 {
            let trace = TraceContext.random()
            var bytes = [UInt8](repeating: 0, count: TraceContext.parentByteCount)
            bytes.withUnsafeMutableBytes { raw in
                if let base = raw.baseAddress { trace.writeParent(to: base) }
            }
            #expect(String(decoding: bytes, as: UTF8.self) == trace.traceparent)
        }
    }
}
