internal import Catalogue
package import Clocks
internal import Contracts
internal import Synchronization

/// The time since which the programmers of requestors, and the owners of MVPDs, have their ids. Stored data from before belonged to another owner and
/// is told to nobody (config.proto, Requestor.since_ms).
package final class EntryLives: Sendable {
    private let catalogue = Mutex<(any CatalogueSource)?>(nil)

    /// To be called before the store is used.
    func follow(_ source: any CatalogueSource) { catalogue.withLock { $0 = source } }

    /// - Parameter mvpd: Empty: of the requestor alone.
    /// - Returns: 0 since ever, also before there is a catalogue: then no call is answered.
    package func since(_ requestor: RequestorID, mvpd: String = "") -> Timestamp {
        guard let catalogue = try? catalogue.withLock({ $0 })?.current() else { return Timestamp(milliseconds: 0) }
        let ofMvpd = mvpd.isEmpty ? 0 : catalogue.mvpd(mvpd)?.sinceMilliseconds ?? 0
        return Timestamp(milliseconds: Int64(clamping: max(catalogue.requestor(requestor.text)?.sinceMilliseconds ?? 0, ofMvpd)))
    }

    func cover(_ session: SessionRecord) -> Bool { session.createdAt >= since(session.key.requestor, mvpd: session.mvpd.text) }

    /// Without those of former owners.
    func covered(_ sessions: [SessionRecord]) -> [SessionRecord] { sessions.allSatisfy(cover) ? sessions : sessions.filter(cover) }
}
