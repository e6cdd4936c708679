internal import Contracts
internal import StrictJson

/// MVPDs that a proxy lists by itself (dashboard §4): what the list does not say is the proxy's own.
extension CatalogueReading {
    /// Reads `listed` and `requestors` of an MVPD's `proxy`.
    func readListing(_ proxy: JsonObject, of mvpd: String) {
        guard proxy.flag("listed") else { return }
        let known = requestors
        let ids = proxy.texts("requestors") { known[$0] == nil ? "names the requestor '\($0)', which is not in the catalogue" : nil }
        listed[mvpd] = Set(ids.map { OctetText($0) })
    }

    /// Gives listed MVPDs what their proxies have, and integrations with the requestors of these.
    func completeListed(_ configuration: inout Configuration) {
        guard !listed.isEmpty else { return }
        for index in configuration.mvpds.indices where listed[configuration.mvpds[index].id] != nil {
            let own = configuration.mvpds[index]
            guard let proxy = mvpds[own.proxyMvpdID] else { continue }
            configuration.mvpds[index] = Self.completed(own, from: proxy)
        }
        let behind = Dictionary(grouping: configuration.mvpds.filter { listed[$0.id] != nil }) { OctetText($0.proxyMvpdID) }
        configuration.integrations += configuration.integrations.flatMap { integration in
            (behind[OctetText(integration.mvpdID)] ?? []).compactMap { derived(from: integration, for: $0.id) }
        }
    }

    private static func completed(_ own: Mvpd, from proxy: Mvpd) -> Mvpd {
        var mvpd = proxy
        (mvpd.id, mvpd.displayName, mvpd.logoURL) = (own.id, own.displayName, own.logoURL)
        (mvpd.isProxied, mvpd.proxyMvpdID, mvpd.providerID) = (true, own.proxyMvpdID, own.providerID)
        (mvpd.iframeRequired, mvpd.iframeWidth, mvpd.iframeHeight) = (own.iframeRequired, own.iframeWidth, own.iframeHeight)
        mvpd.requiresSafariViewController = own.requiresSafariViewController
        // The proxy's own way serves; a platform knows the proxy by its name, not those behind it.
        mvpd.signIn = nil
        mvpd.platforms = []
        mvpd.scheduledSignIn = nil
        mvpd.platformOverrides = proxy.platformOverrides.map(withoutLooks)
        return mvpd
    }

    /// - Returns: `nil` where the list leaves the requestor out, or the catalogue says itself what holds between the two.
    private func derived(from proxy: Integration, for mvpd: String) -> Integration? {
        let requestor = OctetText(proxy.requestorID)
        guard let named = listed[mvpd], named.isEmpty || named.contains(requestor), !integrations.contains([requestor, OctetText(mvpd)]) else {
            return nil
        }
        var integration = proxy
        integration.mvpdID = mvpd
        integration.platformSsoEnabled = false
        // Each MVPD agrees to that for itself.
        integration.autoSignIn = false
        integration.platformOverrides = proxy.platformOverrides.map(Self.withoutLooks)
        return integration
    }

    private static func withoutLooks(_ values: PlatformOverride) -> PlatformOverride {
        var values = values
        (values.displayName, values.logoURL) = ("", "")
        (values.iframeRequired, values.iframeWidth, values.iframeHeight) = (.inherited, 0, 0)
        values.platformSso = .inherited
        return values
    }
}
