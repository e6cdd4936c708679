import Foundation
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Signs of life")
struct WatchdogTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("are given while each part answers, and not while one does not", arguments: [0, 1])
    func followsEachPart(hanging: Int) async throws {
        let socket = try NotifySocket(folder.path + "/notify")
        let (isOpen, late) = (Held(true), Held<[@Sendable () -> Void]>([]))
        let parts: [Watchdog.Part] = (0..<2).map { number in
            { answer in
                if number != hanging || isOpen.now { answer() } else { late.change { $0.append(answer) } }
            }
        }
        let watchdog = Watchdog(try #require(socket.manager), parts: parts, limit: .milliseconds(60), environment: [:])
        watchdog.start()
        try await eventually("it is armed") { socket.take() == ["WATCHDOG_USEC=60000"] }
        try await eventually("signs") { socket.take() == ["WATCHDOG=1"] }
        isOpen.change { $0 = false }
        try await eventually("the part is asked") { !late.now.isEmpty }
        while !socket.take().isEmpty {}
        try await Task.sleep(for: .milliseconds(200))
        #expect(socket.take() == [], "no sign while a part is silent")
        isOpen.change { $0 = true }
        for answer in late.now { answer() }
        try await eventually("signs again") { socket.take() == ["WATCHDOG=1"] }
        watchdog.stop()
    }

    @Test("a unit's own WatchdogSec counts; where nobody listens there is no watchdog, and none of the messages waits for somebody")
    func environment() async throws {
        let socket = try NotifySocket(folder.path + "/notify")
        let watchdog = Watchdog(try #require(socket.manager), parts: [{ $0() }], environment: ["WATCHDOG_USEC": "90000"])
        watchdog.start()
        try await eventually("it is not armed again") { socket.take() == ["WATCHDOG=1"] }
        watchdog.stop()
        for environment in [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "relative"], ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]] {
            #expect(ServiceManager(environment: environment) == nil)
        }
        ServiceManager(environment: ["NOTIFY_SOCKET": folder.path + "/absent"])?.tell("WATCHDOG=1")
        let abstract = "@boxoffice-\(UUID().uuidString)"
        let other = try NotifySocket(abstract)
        other.manager?.tell("STOPPING=1", "WATCHDOG=1")
        try await eventually("an abstract socket is reached") { other.take() == ["STOPPING=1\nWATCHDOG=1"] }
    }

    @Test("the parts of a process are its event loops and its executor")
    func ofThisProcess() async throws {
        let answered = Held(0)
        for part in Watchdog.ofThisProcess { part { answered.change { $0 += 1 } } }
        try await eventually("all answer") { answered.now == Watchdog.ofThisProcess.count }
        #expect(Watchdog.ofThisProcess.count > 1)
    }
}

/// A value that several threads change.
private final class Held<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var now: Value { value.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { value.withLock { body(&$0) } }
}

/// Where systemd would listen.
final class NotifySocket: Sendable {
    let manager: ServiceManager?
    private let descriptor: Int32

    /// - Parameter name: A path, or `@` and an abstract name.
    init(_ name: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = Array(name.utf8)
        let isAbstract = octets[0] == UInt8(ascii: "@")
        if isAbstract { octets[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let length = isAbstract ? MemoryLayout<sa_family_t>.size + octets.count : MemoryLayout<sockaddr_un>.size
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) == 0 }
        }
        manager = ServiceManager(environment: ["NOTIFY_SOCKET": name])
        guard isBound else { throw NotInTime(what: "a socket at \(name)") }
    }

    deinit { close(descriptor) }

    /// The next message; none, where there is none.
    func take() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count > 0 ? [String(decoding: buffer[..<count], as: UTF8.self)] : []
    }
}
