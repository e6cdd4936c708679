internal import NIOCore
internal import Synchronization

/// Admission on all event loops of the gateway; each measures itself.
final class Admission: Sendable {
    private let settings: OverloadSettings
    private let loops = Mutex<[ObjectIdentifier: LoopAdmission]>([:])

    init(_ settings: OverloadSettings) { self.settings = settings }

    /// The part of it that belongs to an event loop, the same for all connections there.
    func on(_ eventLoop: any EventLoop) -> LoopAdmission {
        loops.withLock { loops in
            if let known = loops[ObjectIdentifier(eventLoop)] { return known }
            let new = LoopAdmission(eventLoop, settings)
            loops[ObjectIdentifier(eventLoop)] = new
            return new
        }
    }
}
