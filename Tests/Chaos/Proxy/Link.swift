import Glibc
import NIOCore
import Synchronization

/// A connection through a proxy: its two ends.
final class Link: Sendable {
    let near: any Channel
    private let far = Mutex<(any Channel)?>(nil)
    private let mute = Atomic(false)

    init(near: any Channel) { self.near = near }

    var isMute: Bool { mute.load(ordering: .relaxed) }

    /// From now on nothing passes, for good.
    func becomeMute() { mute.store(true, ordering: .relaxed) }

    func join(_ channel: any Channel) { far.withLock { $0 = channel } }

    /// - Parameter abruptly: By a reset instead of an orderly end.
    func cut(abruptly: Bool) {
        for channel in [near, far.withLock { $0 }].compactMap({ $0 }) {
            if abruptly { _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
            channel.close(promise: nil)
        }
    }
}
