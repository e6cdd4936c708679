internal import Catalogue
internal import Contracts
internal import GatewayEdge
internal import TextEncodings

/// The TV providers among which a person chooses.
struct ProviderList {
    /// Those that the channel wants to stand first, in its order; before them the one that the app chose.
    let favourites: [Provider]
    /// The rest, by name, as the reader's language orders names.
    let others: [Provider]

    struct Provider {
        let id: String
        let name: ShownText
        let logo: String
    }

    /// With fewer than so many, a search is in the way.
    private static let leastForSearch = 8

    /// The active ones that a browser can sign in at.
    /// - Parameter bridged: Those of an upstream, beside them.
    init(_ catalogue: Catalogue, requestor: String, chosen: String = "", bridged: [Provider] = [], _ language: PageLanguage) {
        let first = ([chosen] + (catalogue.requestor(requestor)?.favouriteMvpds ?? [])).enumerated()
        let places = Dictionary(first.map { (OctetText($0.element), $0.offset) }) { first, _ in first }
        let direct = catalogue.activeIntegrations(requestor: requestor).map(\.mvpd).filter { Self.isSupported($0, catalogue) }.map { mvpd in
            Provider(id: mvpd.id, name: ShownText(mvpd.displayName.isEmpty ? mvpd.id : mvpd.displayName), logo: LogoAddress.usable(mvpd.logoURL))
        }
        var favourites: [(place: Int, provider: Provider)] = []
        var others: [(key: CollationKey, provider: Provider)] = []
        for provider in direct + bridged {
            if let place = places[OctetText(provider.id)] {
                favourites.append((place, provider))
            } else {
                others.append((CollationKey(provider.name.text, language.alphabet), provider))
            }
        }
        self.favourites = favourites.sorted { $0.place < $1.place }.map(\.provider)
        self.others = others.sorted { $0.key < $1.key || (!($1.key < $0.key) && $0.provider.id < $1.provider.id) }.map(\.provider)
    }

    var isEmpty: Bool { favourites.isEmpty && others.isEmpty }

    func holds(_ mvpd: String) -> Bool { (favourites + others).contains { $0.id == mvpd } }

    /// For the template `providers`.
    /// - Parameter query: The text that a person looks for; empty: all.
    func content(query: String, _ language: PageLanguage) -> [String: Any] {
        let wanted = SearchText(query)
        let isSearch = !wanted.words.isEmpty
        let (first, rest) = isSearch ? (Self.matching(favourites, wanted), Self.matching(others, wanted)) : (favourites, others)
        var groups: [[String: Any]] = []
        if !first.isEmpty { groups.append(Self.group(first, heading: language.text("providers.favourites"))) }
        if !rest.isEmpty { groups.append(Self.group(rest, heading: first.isEmpty ? "" : language.text("providers.others"))) }
        var content: [String: Any] = ["groups": groups]
        if favourites.count + others.count >= Self.leastForSearch { content["search"] = ["query": query] }
        if isSearch {
            content["isSearch"] = true
            content[groups.isEmpty ? "none" : "some"] = ["count": first.count + rest.count]
        }
        return content
    }

    private static func matching(_ providers: [Provider], _ wanted: SearchText) -> [Provider] {
        providers.filter { SearchText($0.name.text).holds(wanted) }
    }

    private static func group(_ providers: [Provider], heading: String) -> [String: Any] {
        let entries = providers.map { provider in
            var entry: [String: Any] = ["id": PercentEncoding.encode(provider.id), "name": provider.name.text, "initials": provider.name.initials]
            if !provider.logo.isEmpty { entry["logo"] = provider.logo }
            return entry
        }
        return heading.isEmpty ? ["providers": entries] : ["heading": ["text": heading], "providers": entries]
    }

    /// TempPass needs no browser. A proxied MVPD signs people in as the one through which it is reached.
    private static func isSupported(_ mvpd: Mvpd, _ catalogue: Catalogue) -> Bool {
        switch mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil) {
        case .saml, .oauth: true
        case .tempPass, nil: false
        }
    }
}
