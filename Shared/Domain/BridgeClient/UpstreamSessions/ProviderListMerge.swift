/// Which providers a requestor's apps are offered, where some are bridged (bridge §3.2, §6).
public struct ProviderListMerge: Sendable {
    public enum Order: Sendable {
        /// As upstream has them; direct ones that it lacks follow.
        case upstream
        /// As the catalogue has them; others of upstream's follow.
        case catalogue
        /// By name.
        case displayName
    }

    /// The catalogue's entry of a provider at the requestor.
    public struct Entry: Hashable, Sendable {
        public enum Way: Hashable, Sendable {
            case direct
            /// - Parameter id: Upstream's.
            case bridged(id: String)
            /// The integration is disabled: nobody gets it, though upstream lists it.
            case off
        }

        /// Ours.
        public let id: String
        /// Empty: upstream's.
        public let displayName: String
        public let way: Way

        public init(id: String, displayName: String, way: Way) {
            self.id = id
            self.displayName = displayName
            self.way = way
        }
    }

    public struct Offer: Hashable, Sendable {
        /// Ours.
        public let id: String
        public let displayName: String
        /// `nil`: direct, with what the catalogue says.
        public let provider: BridgedProvider?
    }

    private let order: Order
    private let isWhole: Bool
    private let ours: [OctetText: String]

    /// - Parameters:
    ///   - isWhole: True when every provider that upstream lists is offered, also those that the catalogue does not know.
    ///   - mvpdIDs: Ours to theirs, for providers without an integration of their own.
    public init(order: Order, isWhole: Bool, mvpdIDs: [(ours: String, theirs: String)] = []) {
        self.order = order
        self.isWhole = isWhole
        ours = Dictionary(texts: mvpdIDs.map { ($0.theirs, $0.ours) }, uniquingKeysWith: { first, _ in first })
    }

    /// Each id once.
    public func merge(_ list: [BridgedProvider], _ catalogue: [Entry]) -> [Offer] {
        let entries = Dictionary(texts: catalogue.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let bridged = Dictionary(
            texts: catalogue.compactMap { entry in if case .bridged(let id) = entry.way { (id, entry) } else { nil } },
            uniquingKeysWith: { first, _ in first })
        let byTheirs = Dictionary(texts: list.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let upstream = list.compactMap { offer(of: $0, entries, bridged) }
        let direct = catalogue.compactMap { offer(of: $0, byTheirs) }
        switch order {
        case .upstream: return Self.distinct(upstream + direct)
        case .catalogue: return Self.distinct(direct + upstream)
        case .displayName:
            return Self.distinct(upstream + direct).sorted { ($0.displayName.lowercased(), $0.id) < ($1.displayName.lowercased(), $1.id) }
        }
    }

    /// A direct provider replaces the entry of its id in place.
    private func offer(of provider: BridgedProvider, _ entries: [OctetText: Entry], _ bridged: [OctetText: Entry]) -> Offer? {
        if let entry = bridged[provider.id] { return Offer(id: entry.id, displayName: Self.name(entry, provider), provider: provider) }
        let id = ours[provider.id] ?? provider.id
        guard let entry = entries[id] else { return isWhole ? Offer(id: id, displayName: provider.displayName, provider: provider) : nil }
        switch entry.way {
        case .direct: return Offer(id: id, displayName: Self.name(entry, nil), provider: nil)
        case .bridged, .off: return nil
        }
    }

    private func offer(of entry: Entry, _ list: [OctetText: BridgedProvider]) -> Offer? {
        switch entry.way {
        case .direct: return Offer(id: entry.id, displayName: Self.name(entry, nil), provider: nil)
        case .bridged(let id): return list[id].map { Offer(id: entry.id, displayName: Self.name(entry, $0), provider: $0) }
        case .off: return nil
        }
    }

    private static func name(_ entry: Entry, _ provider: BridgedProvider?) -> String {
        entry.displayName.isEmpty ? provider?.displayName ?? entry.id : entry.displayName
    }

    private static func distinct(_ offers: [Offer]) -> [Offer] {
        var known: Set<OctetText> = []
        return offers.filter { known.insert($0.id).inserted }
    }
}
