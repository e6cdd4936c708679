internal import BridgeClient
internal import Catalogue
internal import Contracts
internal import GatewayEdge

/// The TV providers of a channel at which an upstream signs people in, for the second screen (bridge §7.6).
struct BridgedChoices {
    let requestor: Requestor
    let catalogue: Catalogue

    /// Without a return page of ours the login ends at the channel's own page, where a person has to begin it too.
    var areElsewhere: Bool { requestor.bridge?.returnOrigin.isEmpty ?? false }

    /// Whether an upstream signs people in there.
    func holds(_ mvpd: String) -> Bool {
        catalogue.bridgeWay(requestor: requestor.id, mvpd: mvpd) != nil && catalogue.integration(requestor: requestor.id, mvpd: mvpd)?.enabled == true
    }

    /// Those of the upstream's list that a browser can sign in at. Where no list can be had: those that the catalogue names; a login that fails says so itself.
    func providers(_ authentication: any Authentication, _ code: RegistrationCode, _ exchange: Exchange) async -> [ProviderList.Provider] {
        guard let bridge = requestor.bridge, bridge.everyMvpd || !enabled.isEmpty else { return [] }
        let request = ListBridgedProvidersRequest(
            requestor: requestor.id, device: code.device ?? DeviceInformation(), clientAddress: exchange.facts.clientAddress.text)
        guard let list = try? await authentication.listBridgedProviders(request, context: exchange.call) else {
            return enabled.map { named($0.mvpdID, "", nil) }
        }
        return BridgedListing(requestor, bridge, catalogue, nil).bridgedOffers(list.providers).compactMap { offer in
            offer.provider?.isTemporaryPass == true ? nil : named(offer.id, offer.displayName, offer.provider?.logoURL)
        }
    }

    private var enabled: [Integration] {
        requestor.bridge == nil ? [] : catalogue.bridgedIntegrations(requestor: requestor.id).filter(\.enabled)
    }

    private func named(_ id: String, _ name: String, _ logo: String?) -> ProviderList.Provider {
        let own = catalogue.mvpd(id)
        let shown = [name, own?.displayName ?? "", id].first { !$0.isEmpty } ?? id
        let picture = own.map(\.logoURL).flatMap { $0.isEmpty ? nil : $0 } ?? logo ?? ""
        return ProviderList.Provider(id: id, name: ShownText(shown), logo: LogoAddress.usable(picture))
    }
}
