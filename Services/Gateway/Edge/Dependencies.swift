package import Catalogue
package import Contracts
package import Logging

/// The settings, peers and limits that the endpoints work with.
///
/// A class, so that handing them on costs one reference.
package final class Dependencies: Sendable {
    package let settings: GatewaySettings
    let hosts: PublicHosts
    package let pages: Pages
    package let authentication: any Authentication
    package let authorization: any Authorization
    package let administration: any Administration
    package let operations: any AuthenticationOperations
    /// `nil`: nobody can be asked for what `autosignin` holds of people.
    package let autoSignInOperations: (any AutoSignInOperations)?
    package let usage: any Usage
    package let autoSignIn: any AutomaticSignIn
    package let signInWithApple: any SignInWithApple
    package let catalogue: any CatalogueSource
    let throttle: Throttle
    package let codes: CodeGuard
    package let liveCodes: LiveCodes
    let signatures: SignatureGuard
    package let notifications: NotificationThrottle
    let shares: FairShares
    /// Whether this program can do its work now and is to go on.
    package let isReady: @Sendable () -> Bool

    /// - Parameters:
    ///   - autoSignInOperations: Tells what `autosignin` holds of people; `nil`: nobody does.
    ///   - logger: Told whose calls are too many.
    ///   - clock: Measures the limits by client address, application and requestor.
    ///   - isReady: Whether load balancers should send requests here.
    package init(
        settings: GatewaySettings, pages: Pages, authentication: any Authentication, authorization: any Authorization,
        administration: any Administration, operations: any AuthenticationOperations, usage: any Usage, autoSignIn: any AutomaticSignIn,
        signInWithApple: any SignInWithApple, catalogue: any CatalogueSource, autoSignInOperations: (any AutoSignInOperations)? = nil,
        logger: Logger = Logger(label: "gateway"), clock: any MonotonicClock = SteadyClock(),
        isReady: @escaping @Sendable () -> Bool = { true }
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
        throttle = Throttle(settings: settings.throttle, clock: clock)
        codes = CodeGuard(exempt: settings.throttle.exempt, clock: clock)
        liveCodes = LiveCodes(settings: settings.throttle, clock: clock)
        signatures = SignatureGuard(exempt: settings.throttle.exempt, clock: clock)
        notifications = NotificationThrottle(exempt: settings.throttle.exempt, clock: clock)
        shares = FairShares(settings: settings.shares, clock: clock, logger: logger)
        self.autoSignInOperations = autoSignInOperations
        self.isReady = isReady
    }
}
