import Synchronization

/// The state that a proxy and its connections share.
final class ProxyState: Sendable {
    private struct Contents {
        var rules = WireRules.none
        var links: [ObjectIdentifier: Link] = [:]
        var counts = ProxyCounts()
    }

    private let contents = Mutex(Contents())

    var rules: WireRules {
        get { contents.withLock { $0.rules } }
        set { contents.withLock { $0.rules = newValue } }
    }

    var links: [Link] { contents.withLock { Array($0.links.values) } }

    var counts: ProxyCounts { contents.withLock { $0.counts } }

    func count(bytes: Int, corrupted: Int) {
        contents.withLock {
            $0.counts.bytes += bytes
            $0.counts.corrupted += corrupted
        }
    }

    func add(_ link: Link) {
        contents.withLock {
            $0.links[ObjectIdentifier(link)] = link
            $0.counts.connections += 1
        }
    }

    func remove(_ link: Link) { contents.withLock { _ = $0.links.removeValue(forKey: ObjectIdentifier(link)) } }
}

/// The counts of a proxy since it began.
package struct ProxyCounts: Sendable, Equatable {
    package var connections = 0
    package var bytes = 0
    package var corrupted = 0
}
