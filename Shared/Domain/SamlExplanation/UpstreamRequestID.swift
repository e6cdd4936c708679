internal import Cryptography
package import Identifiers

package enum UpstreamRequestSubject {}

/// `ID` of a request of ours.
package typealias UpstreamRequestID = Identifier<UpstreamRequestSubject>

extension Identifier where Subject == UpstreamRequestSubject {
    /// An NCName of 160 random bits (mvpd §2.2).
    package static func random(from source: any RandomSource) -> UpstreamRequestID {
        UpstreamRequestID("_" + Hex.encode(source.bytes(20)))
    }
}
