internal import BridgeClient
internal import Catalogue
internal import Contracts
internal import GatewayEdge

/// The members of each MVPD in a list (rest-v1 §3.3, rest-v2 §2.1).
enum MvpdListing {
    /// As v1 lists it: what is false is left out, but for `authPerAggregator`.
    static func members(_ mvpd: Mvpd) -> [Document.Member] {
        var members: [Document.Member] = [
            .init("id", .text(mvpd.id)), .init("displayName", .text(mvpd.displayName)), .init("logoUrl", .text(mvpd.logoURL)),
            .init("authPerAggregator", .flag(mvpd.authPerAggregator)),
        ]
        if mvpd.iframeRequired {
            members.append(.init("iFrameRequired", .flag(true)))
            let sizes = [("iFrameWidth", mvpd.iframeWidth), ("iFrameHeight", mvpd.iframeHeight)]
            members += sizes.filter { $0.1 != 0 }.map { Document.Member($0.0, .number(Int64($0.1))) }
        }
        if case .tempPass = mvpd.signIn { members.append(.init("isTempPass", .flag(true))) }
        let flags = [
            ("isProxy", mvpd.isProxied), ("passiveAuthnEnabled", mvpd.passiveAuthnEnabled),
            ("authPerBrowserSession", mvpd.authPerBrowserSession), ("requiresSafariViewController", mvpd.requiresSafariViewController),
        ]
        return members + flags.filter(\.1).map { Document.Member($0.0, .flag(true)) }
    }

    /// As v2 lists it: `isProxy` and `isTempPass` are always there, as clients read their absence in their own ways (clients §4.11).
    static func v2Members(_ mvpd: Mvpd) -> [Document.Member] {
        var isTempPass = false
        if case .tempPass = mvpd.signIn { isTempPass = true }
        return [
            .init("id", .text(mvpd.id)), .init("displayName", .text(mvpd.displayName)), .init("logoUrl", .text(mvpd.logoURL)),
            .init("isTempPass", .flag(isTempPass)), .init("isProxy", .flag(mvpd.isProxied)),
            .init("authPerAggregator", .flag(mvpd.authPerAggregator)), .init("passiveAuthnEnabled", .flag(mvpd.passiveAuthnEnabled)),
            .init("authPerBrowserSession", .flag(mvpd.authPerBrowserSession)),
            .init("requiresSafariViewController", .flag(mvpd.requiresSafariViewController)),
        ]
    }

    /// Only MVPDs that are configured for platform single sign-on have these.
    static func sso(_ pair: (integration: Integration, mvpd: Mvpd), _ catalogue: Catalogue, _ platform: Platform?) -> [Document.Member] {
        guard let (settings, isOn) = settings(pair, catalogue, platform) else { return [] }
        var members: [Document.Member] = [.init("enablePlatformServices", .flag(isOn))]
        if let status = name(settings.boardingStatus) { members.append(.init("boardingStatus", .text(status))) }
        members += [
            .init("displayInPlatformPicker", .flag(settings.displayInPlatformPicker)),
            .init("platformMappingId", .text(settings.platformMappingID)),
            .init("requiredMetadataFields", .list(settings.requiredMetadataFields.map { .text($0) }, item: "field")),
        ]
        if settings.enforcePlatformPermissions { members.append(.init("enforcePlatformPermissions", .flag(true))) }
        return members
    }

    /// The settings of the platform, or of the first one where single sign-on is on, else the first one, and whether it is on there.
    private static func settings(
        _ pair: (integration: Integration, mvpd: Mvpd), _ catalogue: Catalogue, _ platform: Platform?
    ) -> (settings: PlatformSettings, isOn: Bool)? {
        if let platform { return pair.mvpd.platforms.first { $0.platform == platform }.map { ($0, isOn($0, pair.integration)) } }
        let configured = pair.mvpd.platforms.compactMap { settings -> (settings: PlatformSettings, isOn: Bool)? in
            let requestor = pair.integration.requestorID
            let resolved = try? catalogue.requireIntegration(requestor: requestor, mvpd: pair.mvpd.id, platform: settings.platform)
            return resolved.flatMap { own in
                own.mvpd.platforms.first { $0.platform == settings.platform }.map { ($0, isOn($0, own.integration)) }
            }
        }
        return configured.first(where: \.isOn) ?? configured.first
    }

    private static func isOn(_ settings: PlatformSettings, _ integration: Integration) -> Bool {
        settings.enablePlatformServices && integration.platformSsoEnabled
    }

    private static func name(_ status: BoardingStatus) -> String? {
        switch status {
        case .supported: "SUPPORTED"
        case .picker: "PICKER"
        case .none, .unrecognized: nil
        }
    }
}

/// A requestor's MVPDs where an upstream serves some of them (bridge §6).
struct UpstreamListing: Sendable {
    private let merge: ProviderListMerge
    private let entries: [ProviderListMerge.Entry]
    private let direct: [OctetText: (integration: Integration, mvpd: Mvpd)]
    private let requestor: String
    private let catalogue: Catalogue
    private let platform: Platform?

    init(_ requestor: Requestor, _ bridge: RequestorBridge, _ catalogue: Catalogue, _ platform: Platform?) {
        self.requestor = requestor.id
        self.catalogue = catalogue
        self.platform = platform
        let order: ProviderListMerge.Order =
            switch bridge.listOrder {
            case .catalogue: .catalogue
            case .displayName: .displayName
            case .upstream, .unrecognized: .upstream
            }
        merge = ProviderListMerge(order: order, isWhole: bridge.everyMvpd, mvpdIDs: bridge.mvpdNames.map { ($0.ours, $0.theirs) })
        let pairs = catalogue.activeIntegrations(requestor: requestor.id, platform: platform)
        direct = Dictionary(texts: pairs.map { ($0.mvpd.id, $0) }, uniquingKeysWith: { first, _ in first })
        entries =
            pairs.map { ProviderListMerge.Entry(id: $0.mvpd.id, displayName: $0.mvpd.displayName, way: .direct) }
            + catalogue.bridgedIntegrations(requestor: requestor.id).map { integration in
                let way = catalogue.bridgeWay(requestor: requestor.id, mvpd: integration.mvpdID)
                let name = Self.own(integration.mvpdID, at: requestor.id, catalogue, platform)?.displayName ?? ""
                guard integration.enabled, let way else { return ProviderListMerge.Entry(id: integration.mvpdID, displayName: name, way: .off) }
                return ProviderListMerge.Entry(id: integration.mvpdID, displayName: name, way: .bridged(id: way.theirMvpd))
            }
    }

    /// The members of each MVPD in the list of REST v1.
    func members(_ list: [BridgedProviderEntry]) -> [[Document.Member]] {
        offers(list).map { offer in
            if let pair = direct[OctetText(offer.id)] { return MvpdListing.members(pair.mvpd) + MvpdListing.sso(pair, catalogue, platform) }
            return Self.members(offer, Self.own(offer.id, at: requestor, catalogue, platform)) + sso(offer)
        }
    }

    /// The catalogue's record of an MVPD, with its values for the platform; `nil`: the catalogue does not name it.
    private static func own(_ id: String, at requestor: String, _ catalogue: Catalogue, _ platform: Platform?) -> Mvpd? {
        guard let mvpd = catalogue.mvpd(id) else { return nil }
        return (try? catalogue.requireIntegration(requestor: requestor, mvpd: id, platform: platform))?.mvpd ?? mvpd
    }

    /// Without those that the catalogue has switched off, or under another name.
    private func offers(_ list: [BridgedProviderEntry]) -> [ProviderListMerge.Offer] {
        merge.merge(list.map(BridgedProvider.init), entries).filter { offer in
            direct[OctetText(offer.id)] != nil || catalogue.integration(requestor: requestor, mvpd: offer.id)?.enabled == true
        }
    }

    /// The platform's own sign-in works where the catalogue says what it has to ask for (bridge §11).
    private func sso(_ offer: ProviderListMerge.Offer) -> [Document.Member] {
        guard let pair = try? catalogue.requireIntegration(requestor: requestor, mvpd: offer.id, platform: platform),
            pair.integration.platformSsoEnabled
        else { return [] }
        return MvpdListing.sso(pair, catalogue, platform)
    }

    /// The MVPDs that the upstream serves, in the list's order.
    func bridgedOffers(_ list: [BridgedProviderEntry]) -> [ProviderListMerge.Offer] {
        offers(list).filter { direct[OctetText($0.id)] == nil }
    }

    private static func members(_ offer: ProviderListMerge.Offer, _ own: Mvpd?) -> [Document.Member] {
        let provider = offer.provider
        let logo = own?.logoURL.isEmpty == false ? own?.logoURL ?? "" : provider?.logoURL ?? ""
        var members: [Document.Member] = [
            .init("id", .text(offer.id)), .init("displayName", .text(offer.displayName)), .init("logoUrl", .text(logo)),
            .init("authPerAggregator", .flag(provider?.authPerAggregator ?? false)),
        ]
        let flags = [
            ("isTempPass", provider?.isTemporaryPass ?? false), ("isProxy", provider?.isProxy ?? false),
            ("authPerBrowserSession", provider?.authPerBrowserSession ?? false),
            ("requiresSafariViewController", own?.requiresSafariViewController ?? false),
        ]
        members += flags.filter(\.1).map { Document.Member($0.0, .flag(true)) }
        return members
    }
}

extension BridgedProvider {
    init(_ entry: BridgedProviderEntry) {
        self.init(
            id: entry.id, displayName: entry.displayName, logoURL: entry.logoURL, isTemporaryPass: entry.isTemporaryPass, isProxy: entry.isProxy,
            authPerAggregator: entry.authPerAggregator, authPerBrowserSession: entry.authPerBrowserSession)
    }
}
