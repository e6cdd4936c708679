internal import Catalogue
internal import Contracts
internal import Faults

/// What the endpoints work with.
///
/// A class, so that handing them on costs one reference.
final class Dependencies: Sendable {
    let settings: GatewaySettings
    let hosts: PublicHosts
    let pages: Pages
    let authentication: any Authentication
    let authorization: any Authorization
    let administration: any Administration
    let operations: any AuthenticationOperations
    /// `nil`: nobody can be asked for what `autosignin` holds of people.
    let autoSignInOperations: (any AutoSignInOperations)?
    let usage: any Usage
    let autoSignIn: any AutomaticSignIn
    let signInWithApple: any SignInWithApple
    let catalogue: any CatalogueSource
    let codes: CodeGuard
    let liveCodes: LiveCodes
    let signatures: SignatureGuard
    let notifications: NotificationThrottle
    let shares: FairShares
    /// Where administrators sign in beside their tokens; `nil`: nowhere.
    let provider: OpenIDProvider?
    /// Whether this program can do its work now and is to go on.
    let isReady: @Sendable () -> Bool

    init(
        settings: GatewaySettings, pages: Pages, authentication: any Authentication, authorization: any Authorization,
        administration: any Administration, operations: any AuthenticationOperations, usage: any Usage,
        autoSignIn: any AutomaticSignIn,
        signInWithApple: any SignInWithApple, catalogue: any CatalogueSource, codes: CodeGuard, liveCodes: LiveCodes,
        signatures: SignatureGuard, notifications: NotificationThrottle? = nil, shares: FairShares? = nil,
        autoSignInOperations: (any AutoSignInOperations)? = nil,
        provider: OpenIDProvider? = nil, isReady: @escaping @Sendable () -> Bool = { true }
    ) {
        self.settings = settings
        hosts = PublicHosts(settings)
        self.pages = pages
        self.authentication = authentication
        self.authorization = AffineAuthorization(authorization)
        self.administration = administration
        self.operations = operations
        self.usage = usage
        self.autoSignIn = autoSignIn
        self.signInWithApple = signInWithApple
        self.catalogue = catalogue
        self.codes = codes
        self.liveCodes = liveCodes
        self.signatures = signatures
        self.notifications = notifications ?? NotificationThrottle(exempt: settings.throttle.exempt, clock: SteadyClock())
        self.shares = shares ?? FairShares(settings: settings.shares, clock: SteadyClock())
        self.autoSignInOperations = autoSignInOperations
        self.provider = provider
        self.isReady = isReady
    }
}
