/// An id that cannot be mistaken for the id of something else. Compared byte by byte.
package struct Identifier<Subject>: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
}

package enum ClientSubject {}
package enum DeviceSubject {}
package enum MvpdSubject {}
package enum RequestorSubject {}

/// A registered client of this cluster, not one of a platform's.
package typealias ClientID = Identifier<ClientSubject>
package typealias DeviceID = Identifier<DeviceSubject>
package typealias MvpdID = Identifier<MvpdSubject>
package typealias RequestorID = Identifier<RequestorSubject>
