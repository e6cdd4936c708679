internal import Identifiers

enum ClientCredential {}
enum BrowserTie {}
enum RelayTie {}

typealias ClientSecret = Secret<ClientCredential>
/// Value of the cookie that ties an MVPD's answer to the browser that asked (mvpd §2.2).
typealias BrowserSecret = Secret<BrowserTie>
/// The opaque `RelayState`: 43 characters, of the 80 that the binding allows (mvpd §2.2).
typealias RelayHandle = Secret<RelayTie>
/// The digest by which a store knows a secret.
typealias SecretDigest = Digest
