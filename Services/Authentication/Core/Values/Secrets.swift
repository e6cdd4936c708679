internal import Cryptography
package import Identifiers

enum ClientCredential {}
package enum BrowserTie {}
package enum RelayTie {}

typealias ClientSecret = Secret<ClientCredential>
/// Value of the cookie that ties an MVPD's answer to the browser that asked (mvpd §2.2).
package typealias BrowserSecret = Secret<BrowserTie>
/// The opaque `RelayState`: 43 characters, of the 80 that the binding allows (mvpd §2.2).
package typealias RelayHandle = Secret<RelayTie>
/// The digest by which a store knows a secret.
package typealias SecretDigest = Digest

package enum ProviderCredential {}
package enum ProviderAccess {}
package enum ProviderRefresh {}
package enum ProviderIdentity {}

/// The credential that an MVPD gave us to prove who we are.
package typealias ProviderSecret = Secret<ProviderCredential>
/// An access token of an MVPD, good for its decision point and its profile endpoint.
package typealias ProviderAccessToken = Secret<ProviderAccess>
/// The token that an MVPD exchanges for a new access token.
package typealias ProviderRefreshToken = Secret<ProviderRefresh>
/// The id_token of a sign-in, which the MVPD takes as a hint whom to log out.
package typealias ProviderIdentityToken = Secret<ProviderIdentity>

package enum SecretReferenceSubject {}
/// Names a client secret; never the secret.
package typealias SecretReference = Identifier<SecretReferenceSubject>
