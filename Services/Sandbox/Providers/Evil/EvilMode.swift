internal import Synchronization

/// Which attack each MVPD's next answer is.
final class EvilMode: Sendable {
    private let next = Mutex<[String: Attack]>([:])

    func set(_ attack: Attack?, for mvpd: String) { next.withLock { $0[mvpd] = attack } }

    /// The attack for this answer; the answers after it are genuine again.
    func take(for mvpd: String) -> Attack? { next.withLock { $0.removeValue(forKey: mvpd) } }

    func reset() { next.withLock { $0.removeAll() } }
}
