internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import CoreMetrics
internal import Faults
internal import Logging

/// The metrics of the bridge that tell a state: breakers, clients, statements, logouts and lists of each upstream (bridge §14.1).
struct UpstreamGauges: Sendable {
    /// What is in memory is looked at so often.
    private static let pause: Duration = .seconds(5)
    /// The store is asked at most so often, and takes at most a hundredth of the time.
    private static let leastStorePause: Duration = .seconds(60)
    private static let storeShare = 100
    /// A logout that is younger may be told just now.
    private static let logoutPatience: Duration = .seconds(60)
    /// The catalogue's first ones have names of their own; further ones are `other`.
    private static let most = 100
    private static let other = "other"

    let line: UpstreamConnection
    let lists: UpstreamLists
    let store: any UpstreamStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let logger: Logger
    private let memory = UpstreamMemory(Memory())

    private struct Memory: Sendable {
        var gauges: [Series: Gauge] = [:]
        var counts: [OctetText: UpstreamCounts] = [:]
    }

    private struct Series: Hashable {
        let metric: String
        let upstream: String
        let label: String
        let word: String
    }

    /// Looks now and then, until it is cancelled.
    func keep() async {
        var nextCount = ContinuousClock.now
        while (try? await Task.sleep(for: Self.pause)) != nil {
            if ContinuousClock.now >= nextCount {
                let begin = ContinuousClock.now
                await count()
                nextCount = .now + max(Self.leastStorePause, begin.duration(to: .now) * Self.storeShare)
            }
            await look()
        }
    }

    /// Asks the store. Where that fails the last numbers stand.
    func count() async {
        guard (try? catalogue.current().configuration.upstreams.isEmpty) == false else { return }
        do throws(Fault) {
            let counts = try await store.bridgeCounts(patience: Self.logoutPatience, now: clock.now())
            memory.withLock { $0.counts = counts }
        } catch {
            logger.debug("bridge.not_counted", metadata: ["reason": "\(error)"])
        }
    }

    /// Sets all gauges. An upstream that has left the catalogue has none any more.
    func look() async {
        guard let upstreams = try? catalogue.current().configuration.upstreams else { return }
        let now = clock.now()
        let ages = await lists.ages(now: now)
        let counts = memory.withLock { $0.counts }
        var values: [Series: Double] = [:]
        for (index, upstream) in upstreams.enumerated() {
            let name = index < Self.most ? upstream.id : Self.other
            let key = OctetText(upstream.id)
            func add(_ metric: String, _ value: Double, _ label: String = "", _ word: String = "") {
                values[Series(metric: metric, upstream: name, label: label, word: word), default: 0] += value
            }
            for group in BridgeOperation.Group.allCases {
                let isOpen = !line.breakers.isClosed(UpstreamConnection.breaker(upstream.id, group))
                add("boxoffice_authentication_bridge_breaker_open", isOpen ? 1 : 0, "group", group.rawValue)
            }
            let stored = counts[key] ?? UpstreamCounts()
            for (state, number) in [
                ("ready", stored.readyClients), ("idle", stored.idleClients), ("unregistered", stored.unregisteredClients),
            ] {
                add("boxoffice_authentication_bridge_slots", Double(number), "state", state)
            }
            let refused = line.metrics.refusedStatements(of: upstream, now: now)
            add("boxoffice_authentication_bridge_statement_refused", Double(refused))
            add("boxoffice_authentication_bridge_logouts_pending", Double(stored.waitingLogouts))
            let age = Series(metric: "boxoffice_authentication_bridge_list_age_seconds", upstream: name, label: "", word: "")
            values[age] = max(values[age] ?? 0, Double((ages[key] ?? .zero).wholeMilliseconds) / 1000)
        }
        set(values)
    }

    private func set(_ values: [Series: Double]) {
        memory.withLock { memory in
            for (series, gauge) in memory.gauges where values[series] == nil {
                gauge.destroy()
                memory.gauges[series] = nil
            }
            for (series, value) in values {
                let gauge = memory.gauges[series] ?? self.gauge(series)
                memory.gauges[series] = gauge
                gauge.record(value)
            }
        }
    }

    private func gauge(_ series: Series) -> Gauge {
        let more = series.label.isEmpty ? [] : [(series.label, series.word)]
        return Gauge(label: series.metric, dimensions: [("upstream", series.upstream)] + more, factory: line.metrics.factory)
    }
}
