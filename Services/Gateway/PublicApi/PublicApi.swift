package import GatewayEdge

/// What the gateway is to everybody: v1, v2, the calls of the SDKs, Automatic Sign-In, and the pages of viewers.
package struct PublicApi: Sendable {
    package let routes: [Route]
    package let faces: PublicFaces

    package init(_ dependencies: Dependencies) {
        routes = PublicRoutes.all(dependencies)
        faces = PublicFaces(
            api: V1Face(dependencies.catalogue), apiV2: V2Face(), singleSignOn: SingleSignOnFace(), clientRegistration: ClientRegistrationFace(),
            autoSignIn: AutoSignInFace(), notification: NotificationFace(), browser: BrowserFace(dependencies.pages))
    }
}
