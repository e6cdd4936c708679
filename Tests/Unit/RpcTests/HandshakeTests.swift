import Synchronization
import Testing

@testable import Rpc

@Suite("Handshakes that never end")
struct HandshakeTests {
    @Test("one more of an address, or in all, ends the oldest; who is through takes no place")
    func oldestGoes() {
        let handshakes = Handshakes(limit: 6, perAddress: 3)
        let closed = Mutex<[Int]>([])
        func enter(_ number: Int, _ address: String) -> Handshakes.Ticket {
            handshakes.enter(address) { closed.withLock { $0.append(number) } }.ticket
        }
        let first = (0..<3).map { enter($0, "198.51.100.1") }
        #expect(closed.withLock { $0 }.isEmpty)
        _ = enter(3, "198.51.100.1")
        #expect(closed.withLock { $0 } == [0])
        handshakes.leave(first[1])
        handshakes.leave(first[1])
        #expect(handshakes.count == 2)
        for number in 4..<8 { _ = enter(number, "198.51.100.\(number)") }
        #expect(handshakes.count == 6 && closed.withLock { $0 } == [0])
        _ = enter(8, "198.51.100.8")
        #expect(handshakes.count == 6 && closed.withLock { $0 } == [0, 2], "the oldest of all")
    }
}
