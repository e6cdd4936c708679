internal import Octets

/// Which providers the platform's picker lists, in which order (client-sdk §1.3, `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`).
public struct ProviderFilter: Sendable, Hashable {
    /// All that are listed. Providers without single sign-on are left out.
    public var providers: [Provider.ID]
    /// Those that are shown first. Providers that are not in `providers` are left out.
    public var featured: [Provider.ID]

    public init(providers: [Provider.ID], featured: [Provider.ID] = []) {
        (self.providers, self.featured) = (providers, featured)
    }
}
