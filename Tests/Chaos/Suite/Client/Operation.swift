/// The load's calls of the cluster, by name. Each is one request, and has one kind of answer when all is well.
enum Operation: String, CaseIterable, Sendable {
    /// `GET /api/v1/config/{requestor}`
    case config
    /// `POST /o/client/register`
    case register
    /// `POST /o/client/token`
    case token
    /// `POST /reggie/v1/{requestor}/regcode`
    case code
    /// `GET /reggie/v1/{requestor}/regcode/{code}`
    case codeRead = "code-read"
    /// `DELETE /reggie/v1/{requestor}/regcode/{code}`
    case codeDelete = "code-delete"
    /// `GET /api/v1/authenticate` and the MVPD's answer to it: pages of the gateway
    case signIn = "sign-in"
    /// Pages of the stand-in MVPD
    case mvpd
    /// `POST /api/v1/authenticate/freepreview`
    case preview
    /// `GET /api/v1/tokens/authn`
    case session
    /// `GET /api/v1/authorize`
    case authorize
    /// `GET /api/v1/tokens/authz`
    case permission
    /// `GET /api/v1/mediatoken`
    case media
    /// `DELETE /api/v1/logout`
    case logout
    /// `POST /auto-signin/v1/{requestor}/tokens`
    case optIn = "opt-in"
    /// `POST /auto-signin/v1/{requestor}/tokens/{family}/stored`
    case optInStored = "opt-in-stored"
    /// `POST /auto-signin/v1/{requestor}/redeem`
    case redeem
    /// `POST /auto-signin/v1/{requestor}/tokens/revoke`
    case optOut = "opt-out"
    /// `GET` and `PUT /admin/v1/requestors/{id}`, `DELETE /admin/v1/draft`
    case draft
    /// `POST /admin/v1/draft/push`
    case push
    /// `GET /admin/v1/versions`
    case versions

    /// The service that does it, beside the gateway.
    var owner: OwnerOfOperation {
        switch self {
        case .config: .gateway
        case .register, .token, .code, .codeRead, .codeDelete, .signIn, .preview, .session, .logout: .authentication
        case .authorize, .permission, .media: .authorization
        case .optIn, .optInStored, .redeem, .optOut: .autosignin
        case .draft, .push, .versions: .config
        case .mvpd: .sandbox
        }
    }
}

/// The owner of an operation's work.
enum OwnerOfOperation: Sendable {
    case gateway
    case config
    case authentication
    case authorization
    case autosignin
    case sandbox
}
