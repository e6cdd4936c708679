internal import Identifiers

enum WebLinkSubject {}
enum WebSessionSubject {}

/// With it a browser becomes the caller's.
typealias WebLinkHandle = Secret<WebLinkSubject>
/// Value of a browser's cookie.
typealias WebSessionSecret = Secret<WebSessionSubject>
