internal import Cryptography
internal import Identifiers

enum ProviderCredential {}
enum UpstreamAccess {}
enum UpstreamRefresh {}
enum UpstreamIdentity {}

/// What an MVPD gave us to prove who we are.
typealias ProviderSecret = Secret<ProviderCredential>
/// An access token of an MVPD, good for its decision point and its profile endpoint.
typealias UpstreamAccessToken = Secret<UpstreamAccess>
/// What an MVPD takes for a new access token.
typealias UpstreamRefreshToken = Secret<UpstreamRefresh>
/// The id_token of a sign-in, which the MVPD takes as a hint whom to log out.
typealias UpstreamIdentityToken = Secret<UpstreamIdentity>

enum SecretReferenceSubject {}
/// Names a client secret; never the secret.
typealias SecretReference = Identifier<SecretReferenceSubject>
