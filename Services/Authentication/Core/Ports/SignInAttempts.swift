package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts

/// A person in a browser who wants to sign in for the device that shows a registration code (rest-v1 §3.7).
package struct BrowserAttempt: Sendable {
    /// With MVPD, domain and redirect URL, as the call or the code has them.
    package let request: StartSignInRequest
    package let record: RegistrationRecord
    package let requestor: Requestor
    package let integration: Integration
    package let mvpd: Mvpd
    package let catalogue: Catalogue
    package let trace: TraceContext
    package let now: Timestamp

    package init(
        request: StartSignInRequest, record: RegistrationRecord, requestor: Requestor, integration: Integration, mvpd: Mvpd, catalogue: Catalogue,
        trace: TraceContext, now: Timestamp
    ) {
        (self.request, self.record, self.requestor, self.integration) = (request, record, requestor, integration)
        (self.mvpd, self.catalogue, self.trace, self.now) = (mvpd, catalogue, trace, now)
    }
}

/// A device that wants to be let in on trial, without anybody signing in (rest-v1 §3.21).
package struct TrialAttempt: Sendable {
    package let caller: DeviceCaller
    package let call: DeviceCall
    package let requestor: Requestor
    package let mvpd: Mvpd
    /// As it was sent; a promotional trial needs it.
    package let genericData: String

    package init(caller: DeviceCaller, call: DeviceCall, requestor: Requestor, mvpd: Mvpd, genericData: String) {
        (self.caller, self.call, self.requestor, self.mvpd) = (caller, call, requestor, mvpd)
        self.genericData = genericData
    }
}

/// An app that wants its platform's framework to sign somebody in (rest-v1 §3.13).
package struct PlatformAttempt: Sendable {
    package let client: AuthenticatedClient
    package let requestor: RequestorID
    package let integration: Integration
    /// With the values of the platform put in place.
    package let mvpd: Mvpd
    package let platform: Platform

    package init(client: AuthenticatedClient, requestor: RequestorID, integration: Integration, mvpd: Mvpd, platform: Platform) {
        (self.client, self.requestor, self.integration, self.mvpd) = (client, requestor, integration, mvpd)
        self.platform = platform
    }
}

/// An MVPD's answer that a platform's framework brings (rest-v1 §3.12).
package struct PlatformAnswer: Sendable {
    package let request: ExchangePlatformProfileRequest
    package let caller: DeviceCaller
    package let platform: Platform

    package init(request: ExchangePlatformProfileRequest, caller: DeviceCaller, platform: Platform) {
        (self.request, self.caller, self.platform) = (request, caller, platform)
    }
}
